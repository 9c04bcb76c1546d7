import { expect, test } from 'vitest'

import type { StepLine } from '../queries'
import { timelineOf } from './timeline'

const step = (step_id: string, started_at: number | null, ended_at: number | null) =>
  ({ step_id, started_at, ended_at }) as StepLine

test('bars are shares of the time that the run has taken', () => {
  const { bars, seconds } = timelineOf([step('b', 110, 130), step('a', 100, 110), step('c', 120, null)], 140)
  expect(seconds).toBe(40)
  expect(bars.map((bar) => [bar.step.step_id, bar.left, bar.width])).toEqual([
    ['a', 0, 0.25],
    ['b', 0.25, 0.5],
    ['c', 0.5, 0.5],
  ])
})

test('steps that have not begun are counted', () => {
  expect(timelineOf([step('a', 1, 2), step('b', null, null)], 3).notStarted).toBe(1)
  expect(timelineOf([step('b', null, null)], 3)).toEqual({ bars: [], ticks: [], seconds: 0, notStarted: 1 })
})

test('a clock that is behind gives no negative bar', () => {
  expect(timelineOf([step('a', 100, 101), step('b', 100.5, null)], 99).bars[1]?.width).toBe(0)
})

test('there are few ticks, at round times', () => {
  for (const seconds of [0.3, 7, 61, 3_000, 90_000, 5_000_000]) {
    const { ticks } = timelineOf([step('a', 0, seconds)], seconds)
    expect(ticks.length).toBeLessThanOrEqual(9)
    expect(ticks.length).toBeGreaterThan(1)
  }
})
