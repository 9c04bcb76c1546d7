/** What the URLs of the two pages say. Anything unknown in a URL is dropped, never an error. */

export const RUN_STATUSES = ['running', 'waiting', 'paused', 'completed', 'failed', 'aborted', 'cancelled'] as const
export const PERIODS = ['1h', '24h', '7d', '30d'] as const
export const VIEWS = ['graph', 'timeline', 'steps'] as const
export const PANELS = ['why', 'items', 'input', 'output', 'attempts'] as const

export type Period = (typeof PERIODS)[number]
export type View = (typeof VIEWS)[number]
export type Panel = (typeof PANELS)[number]

/** The filters of the list. `time` names the time that `within` is about. */
export type ListSearch = {
  status?: (typeof RUN_STATUSES)[number]
  definition?: string
  document?: string
  overdue?: true
  time?: 'started' | 'ended'
  within?: Period
}

/** What is shown of a run: the view, the selected step and the part of it, the open groups of the graph. */
export type RunSearch = {
  view?: View
  step?: string
  panel?: Panel
  open?: string
}

const HOURS: Record<Period, number> = { '1h': 1, '24h': 24, '7d': 7 * 24, '30d': 30 * 24 }

export function listSearch(raw: Record<string, unknown>): ListSearch {
  const within = oneOf(PERIODS, raw.within)
  return dropUndefined({
    status: oneOf(RUN_STATUSES, raw.status),
    definition: text(raw.definition),
    document: text(raw.document),
    overdue: raw.overdue === true ? true : undefined,
    time: within && (oneOf(['started', 'ended'] as const, raw.time) ?? 'started'),
    within,
  })
}

export function runSearch(raw: Record<string, unknown>): RunSearch {
  const open = typeof raw.open === 'string' && /^(\d+-\d+(,\d+-\d+)*)?$/.test(raw.open) ? raw.open : undefined
  const step = text(raw.step)
  const panel = step === undefined ? undefined : oneOf(PANELS, raw.panel)
  return dropUndefined({ view: oneOf(VIEWS, raw.view), step, panel: panel === 'why' ? undefined : panel, open })
}

/** The parameters of `GET /v1/runs` for these filters at this moment. */
export function listQuery(search: ListSearch, now: number) {
  const since = search.within && new Date(now - HOURS[search.within] * 3_600_000).toISOString()
  return dropUndefined({
    status: search.status,
    definition: search.definition,
    document: search.document,
    overdue: search.overdue,
    started_since: search.time === 'started' ? since : undefined,
    ended_since: search.time === 'ended' ? since : undefined,
  })
}

function oneOf<const T extends string>(known: readonly T[], value: unknown): T | undefined {
  return known.find((each) => each === value)
}

function text(value: unknown): string | undefined {
  const found = typeof value === 'number' ? String(value) : value
  return typeof found === 'string' && found !== '' ? found : undefined
}

function dropUndefined<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T
}
