/** What the URL of the failures says. */

export type FailuresSearch = {
  /** Of the open group: the error's class, the definition and the step. */
  error?: string
  definition?: string
  step?: string
}

export function failuresSearch(raw: Record<string, unknown>): FailuresSearch {
  const found = Object.entries(raw).filter(
    ([name, value]) => ['error', 'definition', 'step'].includes(name) && typeof value === 'string',
  )
  return Object.fromEntries(found) as FailuresSearch
}
