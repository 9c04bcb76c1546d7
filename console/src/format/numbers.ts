/** Numbers and money. Decimals are strings from end to end: Intl formats them exactly, a float would round them. */
import { numberFormat } from './formatters'
import { locale as ofBrowser } from './locale'

const DECIMAL = /^-?\d+(\.\d+)?$/

/** A decimal such as `4904.95` with its own number of decimals, at least two; any other text as it is. */
export function decimal(value: string, locale = ofBrowser): string {
  if (!DECIMAL.test(value)) return value
  const decimals = Math.max(2, Math.min(value.split('.')[1]?.length ?? 0, 20))
  return exact(value, { minimumFractionDigits: decimals, maximumFractionDigits: decimals }, locale)
}

/** An amount with its currency: `4.904,95 €`. Without a known currency only the number. */
export function money(value: string, currency: string | null | undefined, locale = ofBrowser): string {
  if (!DECIMAL.test(value)) return value
  if (!currency || !/^[A-Z]{3}$/.test(currency)) return decimal(value, locale)
  const decimals = Math.min(value.split('.')[1]?.length ?? 0, 20)
  const usual = numberFormat(locale, { style: 'currency', currency }).resolvedOptions().maximumFractionDigits
  const shown = Math.max(usual ?? 2, decimals) // never hides a digit
  return exact(
    value,
    { style: 'currency', currency, minimumFractionDigits: shown, maximumFractionDigits: shown },
    locale,
  )
}

/** A count: `12,500`. */
export function count(value: number, locale = ofBrowser): string {
  return numberFormat(locale).format(value)
}

/** A measure with one decimal: `2.4`. */
export function rounded(value: number, locale = ofBrowser): string {
  return numberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 }).format(value)
}

/** A share from 0 to 1 in whole percent. Never 100 % for what is not quite 1. */
export function percent(share: number, locale = ofBrowser): string {
  const whole = share >= 1 ? 1 : Math.min(Math.round(share * 100) / 100, 0.99)
  return numberFormat(locale, { style: 'percent' }).format(whole)
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** A size of a file: `1.2 MB`. */
export function bytes(size: number, locale = ofBrowser): string {
  const step = size < 1000 ? 0 : Math.min(Math.floor(Math.log10(size) / 3), UNITS.length - 1)
  const options = { style: 'unit', unit: UNITS[step], unitDisplay: 'short', maximumSignificantDigits: 3 } as const
  return numberFormat(locale, options).format(size / 1000 ** step)
}

function exact(value: string, options: Intl.NumberFormatOptions, locale: string): string {
  return numberFormat(locale, options).format(value as `${number}`)
}
