/** What is chosen on the page: in its address, so that a link, a reload and the back button show the same. */
import { type Column, isColumn, USUAL } from './columns'

export const DATES = ['approved', 'invoice_date', 'received'] as const
export const FORMATS = ['xlsx', 'csv', 'webhook'] as const

export type Search = {
  of: (typeof DATES)[number]
  since?: string
  until?: string
  which: 'new' | 'all'
  format: (typeof FORMATS)[number]
  columns: readonly Column[]
  lines: boolean
  separator?: ',' | ';' | 'tab'
  decimal?: '.' | ','
  bom?: boolean
  url?: string
}

const DAY = /^\d{4}-\d{2}-\d{2}$/

export function readSearch(given: Record<string, unknown>): Partial<Search> {
  return {
    of: oneOf(DATES, given.of),
    since: day(given.since),
    until: day(given.until),
    which: given.which === 'all' ? 'all' : undefined,
    format: oneOf(FORMATS, given.format),
    columns: columnsOf(given.columns),
    lines: given.lines === true ? true : undefined,
    separator: oneOf([',', ';', 'tab'] as const, given.separator),
    decimal: oneOf(['.', ','] as const, given.decimal),
    bom: typeof given.bom === 'boolean' ? given.bom : undefined,
    url: typeof given.url === 'string' ? given.url.slice(0, 2048) : undefined,
  }
}

/** The choice with what is usual for everything that is not chosen. */
export function complete(search: Partial<Search>): Search {
  return {
    ...search,
    of: search.of ?? 'approved',
    which: search.which ?? 'new',
    format: search.format ?? 'xlsx',
    columns: search.columns ?? USUAL,
    lines: search.lines ?? false,
  }
}

function oneOf<T>(known: readonly T[], given: unknown): T | undefined {
  return known.find((each) => each === given)
}

function day(given: unknown): string | undefined {
  return typeof given === 'string' && DAY.test(given) ? given : undefined
}

function columnsOf(given: unknown): readonly Column[] | undefined {
  const found = Array.isArray(given) ? [...new Set(given.filter(isColumn))] : []
  return found.length > 0 ? found : undefined
}
