/** Intl's formatters, each made once: making one takes a hundred times as long as using it. */
const numbers = new Map<string, Intl.NumberFormat>()
const dates = new Map<string, Intl.DateTimeFormat>()

/** Returns the formatter of numbers for a locale and options; all that differ are few. */
export function numberFormat(locale: string, options: Intl.NumberFormatOptions = {}): Intl.NumberFormat {
  return kept(numbers, [locale, options], () => new Intl.NumberFormat(locale, options))
}

/** Returns the formatter of dates and times for a locale and options. */
export function dateFormat(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return kept(dates, [locale, options], () => new Intl.DateTimeFormat(locale, options))
}

function kept<T>(made: Map<string, T>, key: unknown, make: () => T): T {
  const name = JSON.stringify(key)
  const found = made.get(name) ?? make()
  made.set(name, found)
  return found
}
