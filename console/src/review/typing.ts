/**
 * A value as it stands in a text field: as the person writes it, and so that the server reads it back in one way only. An
 * amount has no groups of thousands, and a date in a locale with slashes has its month in words.
 */
import { date } from '@/format/dates'
import { numberFormat } from '@/format/formatters'
import { locale as ofBrowser } from '@/format/locale'

import { isAmount, isDate } from './model'

const DECIMAL = /^-?\d+(\.\d+)?$/
const ISO_DATE = /^\d{4}-\d{2}-\d{2}$/

export function typedText(name: string, value: string | null, locale = ofBrowser): string {
  if (value === null) return ''
  if (isAmount(name)) return typedAmount(value, locale)
  if (name === 'document_type') return value.replaceAll('_', ' ')
  return isDate(name) ? typedDate(value, locale) : value
}

export function typedAmount(value: string | null, locale = ofBrowser): string {
  if (value === null || !DECIMAL.test(value)) return value ?? ''
  const comma =
    numberFormat(locale)
      .formatToParts(1.5)
      .find((part) => part.type === 'decimal')?.value === ','
  const text = comma ? value.replace('.', ',') : value
  // three decimals could be thousands: a fourth makes it plain
  return /^-?[1-9]\d{0,2}[.,]\d{3}$/.test(text) ? `${text}0` : text
}

export function typedDate(value: string, locale = ofBrowser): string {
  if (!ISO_DATE.test(value)) return value
  const numbers = date(value, locale)
  return /^\d{2}\.\d{2}\.\d{4}$/.test(numbers) ? numbers : wordDate(value)
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

function wordDate(value: string): string {
  const [year, month, day] = value.split('-')
  return `${Number(day)} ${MONTHS[Number(month) - 1]} ${year}`
}
