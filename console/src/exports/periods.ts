/** Whole months, as days without a zone. */

/** The first and the last day of a month: `offset` months from the present one, which depends on the zone. */
export function monthOf(zone: string, offset: number, now = new Date()): { since: string; until: string } {
  const parts = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit' }).formatToParts(
    now,
  )
  const number = (type: string) => Number(parts.find((part) => part.type === type)?.value)
  const month = number('month') - 1 + offset
  return { since: dayOf(number('year'), month, 1), until: dayOf(number('year'), month + 1, 0) }
}

function dayOf(year: number, month: number, day: number): string {
  return new Date(Date.UTC(year, month, day)).toISOString().slice(0, 10)
}
