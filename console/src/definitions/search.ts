/** What the URL of a definition says. Anything unknown in a URL is dropped, never an error. */

export const TABS = ['graph', 'changes', 'tests', 'source', 'history', 'dependants'] as const

export type Tab = (typeof TABS)[number]

export type DefinitionSearch = {
  tab?: Tab
  /** The version that is shown; by default the one that new runs get. */
  version?: number
  /** The version that it is compared with. */
  from?: number
  /** The selected step, and the open groups of the graph. */
  step?: string
  open?: string
}

export function definitionSearch(raw: Record<string, unknown>): DefinitionSearch {
  const found: DefinitionSearch = {}
  const tab = TABS.find((each) => each === raw.tab)
  const [version, from] = [versionOf(raw.version), versionOf(raw.from)]
  if (tab) found.tab = tab
  if (version) found.version = version
  if (from) found.from = from
  if (typeof raw.step === 'string' && raw.step !== '') found.step = raw.step
  if (typeof raw.open === 'string' && /^(\d+-\d+(,\d+-\d+)*)?$/.test(raw.open)) found.open = raw.open
  return found
}

function versionOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined
}
