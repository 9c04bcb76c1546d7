/** When a trigger fires: as people choose it, and as the server takes it. All times are in UTC. Plain functions. */
import type { Model } from '@/api/client'

export const RHYTHMS = ['daily', 'workdays', 'weekly', 'monthly', 'minutes', 'cron'] as const
export type Rhythm = (typeof RHYTHMS)[number]

/** Whatever the rhythm does not need is left as it is: another rhythm may be chosen next. */
export type Times = {
  rhythm: Rhythm
  /** `HH:MM`. */
  time: string
  /** 0 is Sunday, as in a calendar of cron. */
  weekday: string
  minutes: number
  cron: string
}

export const FIRST_TIMES: Times = { rhythm: 'daily', time: '06:00', weekday: '1', minutes: 10, cron: '' }

export function orderOfTimes(times: Times): Pick<Model<'TriggerOrder'>, 'cron' | 'every_seconds'> {
  const [hour = 0, minute = 0] = times.time.split(':').map(Number)
  const at = `${minute} ${hour}`
  switch (times.rhythm) {
    case 'daily':
      return { cron: `${at} * * *` }
    case 'workdays':
      return { cron: `${at} * * 1-5` }
    case 'weekly':
      return { cron: `${at} * * ${times.weekday}` }
    case 'monthly':
      return { cron: `${at} 1 * *` }
    case 'minutes':
      return { every_seconds: Math.round(times.minutes * 60) }
    case 'cron':
      return { cron: times.cron.trim() }
  }
}

/** The names of the days of the week, from Sunday. */
export function weekdays(language: string): string[] {
  const words = new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' })
  return [0, 1, 2, 3, 4, 5, 6].map((day) => words.format(Date.UTC(2023, 0, 1 + day))) // a Sunday
}
