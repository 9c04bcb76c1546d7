/** An order for the API, from what is chosen on the page. */
import type { Model } from '@/api/client'

import { type Column, type LineColumn, LINE_COLUMNS } from './columns'
import type { Search } from './search'

export type Order = Model<'ExportOrder'>
export type Headings = { document: (column: Column) => string; line: (column: LineColumn) => string }

type Style = { separator: ',' | ';' | '\t'; decimal: '.' | ','; bom: boolean }

/** How the browser's person writes CSV: with a decimal comma, spreadsheets separate cells by semicolons. */
export function usualStyle(locale: string): Style {
  const parts = new Intl.NumberFormat(locale).formatToParts(1.5)
  const decimal = parts.find((part) => part.type === 'decimal')?.value === ',' ? ',' : '.'
  return { separator: decimal === ',' ? ';' : ',', decimal, bom: true }
}

export function styleOf(search: Search, locale: string): Style {
  const usual = usualStyle(locale)
  const separator = search.separator === 'tab' ? '\t' : search.separator
  return {
    separator: separator ?? usual.separator,
    decimal: search.decimal ?? usual.decimal,
    bom: search.bom ?? usual.bom,
  }
}

/** Headings are for people: the messages of a webhook keep the columns' names. */
export function orderOf(search: Search, headings: Headings, locale: string, zone: string): Order {
  const named = search.format !== 'webhook'
  return {
    to: targetOf(search, locale),
    period: { of: search.of, since: search.since ?? null, until: search.until ?? null, time_zone: zone },
    which: search.which,
    columns: search.columns.map((name) => ({ name, heading: named ? headings.document(name) : null })),
    line_columns: search.lines
      ? LINE_COLUMNS.map((name) => ({ name, heading: named ? headings.line(name) : null }))
      : [],
  }
}

function targetOf(search: Search, locale: string): Order['to'] {
  switch (search.format) {
    case 'xlsx':
      return { format: 'xlsx' }
    case 'csv':
      return { format: 'csv', ...styleOf(search, locale) }
    case 'webhook':
      return { format: 'webhook', url: search.url ?? '' }
  }
}
