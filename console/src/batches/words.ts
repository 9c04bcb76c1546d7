/** Words about a batch's progress. */
import type { TFunction } from 'i18next'

import { count } from '@/format/numbers'

import type { Batch } from './queries'

/** How far a batch is: `1,234 of 5,000`. */
export function progressOf({ counts }: Batch, t: TFunction): string {
  const left = counts.waiting + counts.running
  return t('batches.progress', { done: count(counts.total - left), all: count(counts.total) })
}

/** The time until the batch ends at its present rate; empty if it does not go on. */
export function timeLeft({ seconds_left: seconds }: Batch, t: TFunction): string {
  if (seconds === null) return ''
  if (seconds < 90) return t('batches.leftSeconds', { count: Math.max(Math.round(seconds), 1) })
  if (seconds < 5400) return t('batches.leftMinutes', { count: Math.round(seconds / 60) })
  return t('batches.leftHours', { count: Math.round(seconds / 3600) })
}
