import { expect, test } from 'vitest'

import { FIRST_TIMES, orderOfTimes, weekdays } from './rhythms'

test('each rhythm is an interval or a calendar', () => {
  const times = { ...FIRST_TIMES, time: '18:05', weekday: '5', minutes: 1.5, cron: ' 0 */4 * * * ' }
  const of = (rhythm: typeof times.rhythm) => orderOfTimes({ ...times, rhythm })
  expect(of('daily')).toEqual({ cron: '5 18 * * *' })
  expect(of('workdays')).toEqual({ cron: '5 18 * * 1-5' })
  expect(of('weekly')).toEqual({ cron: '5 18 * * 5' })
  expect(of('monthly')).toEqual({ cron: '5 18 1 * *' })
  expect(of('minutes')).toEqual({ every_seconds: 90 })
  expect(of('cron')).toEqual({ cron: '0 */4 * * *' })
})

test('the days of the week begin with Sunday', () => {
  expect(weekdays('en').slice(0, 2)).toEqual(['Sunday', 'Monday'])
  expect(weekdays('de')[6]).toBe('Samstag')
})
