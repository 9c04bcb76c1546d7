/** The bars of a timeline: when each step ran, as shares of the time that the run has taken so far. */
import type { StepLine } from '../queries'

export type Bar = { step: StepLine; left: number; width: number; seconds: number }
export type Tick = { left: number; seconds: number }
export type Timeline = { bars: Bar[]; ticks: Tick[]; seconds: number; notStarted: number }

const STEPS_OF_SCALE = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400]
const MOST_TICKS = 8
const LEAST_SECONDS = 0.001

/** Steps in the order of their start. `now`: seconds since the epoch, where bars of running steps end. */
export function timelineOf(steps: readonly StepLine[], now: number): Timeline {
  const started = steps.filter((step) => step.started_at !== null)
  const first = Math.min(...started.map((step) => step.started_at ?? now))
  const last = Math.max(...started.map((step) => step.ended_at ?? now))
  const seconds = started.length ? Math.max(last - first, LEAST_SECONDS) : 0
  const bars = started.map((step): Bar => {
    const from = step.started_at ?? first
    const until = Math.max(step.ended_at ?? now, from)
    return { step, left: (from - first) / seconds, width: (until - from) / seconds, seconds: until - from }
  })
  bars.sort((a, b) => a.left - b.left)
  return { bars, ticks: ticksOf(seconds), seconds, notStarted: steps.length - started.length }
}

function ticksOf(seconds: number): Tick[] {
  if (seconds <= 0) return []
  const scale = STEPS_OF_SCALE.map((each) => (seconds < 2 ? each / 10 : each))
  const every = scale.find((each) => seconds / each <= MOST_TICKS) ?? 86_400 * Math.ceil(seconds / 86_400 / MOST_TICKS)
  const count = Math.floor(seconds / every)
  return Array.from({ length: count + 1 }, (_, at) => ({ left: (at * every) / seconds, seconds: at * every }))
}
