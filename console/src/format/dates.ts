/** Dates and times. A date is the text `YYYY-MM-DD` and has no zone; a time is an instant, shown with its zone. */
import { dateFormat, numberFormat } from './formatters'
import { locale as ofBrowser } from './locale'
import { zoneName } from './zone'

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/

/** A date such as `2014-04-12`: `12/04/2014`, in the order of the locale; any other text as it is. */
export function date(value: string, locale = ofBrowser): string {
  const found = DATE.exec(value)
  if (!found) return value
  const [year = 0, month = 0, day = 0] = found.slice(1).map(Number)
  const midnight = new Date(0)
  midnight.setUTCFullYear(year, month - 1, day)
  const options = { year: 'numeric', month: '2-digit', day: '2-digit', timeZone: 'UTC' } as const
  return dateFormat(locale, options).format(midnight)
}

/** An instant with its zone: `23/11/2026, 18:07 CET`; any other text as it is. */
export function time(instant: string, zone = zoneName(), locale = ofBrowser): string {
  const options = { dateStyle: 'short', timeStyle: 'short', timeZone: zone } as const
  const shown = formatted(instant, options, locale)
  return shown === undefined ? instant : `${shown} ${zoneAt(instant, zone, locale)}`
}

/** The hour of an instant, with its zone: `18:07 CET`. */
export function clock(instant: string, zone = zoneName(), locale = ofBrowser): string {
  const shown = formatted(instant, { timeStyle: 'short', timeZone: zone }, locale)
  return shown === undefined ? instant : `${shown} ${zoneAt(instant, zone, locale)}`
}

/** When something happened: the hour of today, `18:07 CET`, and with its date on any other day. */
export function recent(instant: string, now = Date.now(), zone = zoneName(), locale = ofBrowser): string {
  const dayOf = (value: string | number) => formatted(value, { dateStyle: 'short', timeZone: zone }, locale)
  return dayOf(instant) === dayOf(now) ? clock(instant, zone, locale) : time(instant, zone, locale)
}

/** An instant to the second, for tooltips and logs. */
export function exactTime(instant: string, zone = zoneName(), locale = ofBrowser): string {
  const options = { dateStyle: 'medium', timeStyle: 'medium', timeZone: zone } as const
  const shown = formatted(instant, options, locale)
  return shown === undefined ? instant : `${shown} ${zoneAt(instant, zone, locale)}`
}

const STEPS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** How long ago, or in how long: `5 minutes ago`, in the language of the texts. */
export function relative(instant: string, now: number, language: string): string {
  const seconds = (Date.parse(instant) - now) / 1000
  if (Number.isNaN(seconds)) return instant
  const words = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  const [unit, length] = STEPS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1]
  return words.format(Math.round(seconds / length), unit)
}

/** How long something took: `340 ms`, `4.2 s`, `3 min 5 s`, `2 h 10 min`. */
export function duration(seconds: number, locale = ofBrowser): string {
  const number = (value: number, digits = 0) => numberFormat(locale, { maximumFractionDigits: digits }).format(value)
  if (seconds < 1) return `${number(seconds * 1000)} ms`
  if (seconds < 60) return `${number(seconds, 1)} s`
  if (seconds < 3600) return `${number(Math.floor(seconds / 60))} min ${number(Math.floor(seconds % 60))} s`
  return `${number(Math.floor(seconds / 3600))} h ${number(Math.floor((seconds % 3600) / 60))} min`
}

function formatted(instant: string | number, options: Intl.DateTimeFormatOptions, locale: string): string | undefined {
  const moment = new Date(instant)
  return Number.isNaN(moment.getTime()) ? undefined : dateFormat(locale, options).format(moment)
}

function zoneAt(instant: string, zone: string, locale: string): string {
  const parts = dateFormat(locale, { timeZone: zone, timeZoneName: 'short' }).formatToParts(new Date(instant))
  return parts.find((part) => part.type === 'timeZoneName')?.value ?? zone
}
