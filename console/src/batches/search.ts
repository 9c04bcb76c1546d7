/** What is chosen on the page of a batch: in its address, so that a link, a reload and the back button show the same. */
import type { Model } from '@/api/client'

export type DocumentState = Model<'BatchDocumentState'>
export const STATES = ['waiting', 'running', 'asking', 'done', 'failed', 'cancelled'] as const

export type BatchSearch = { state?: DocumentState | undefined }

export function batchSearch(given: Record<string, unknown>): BatchSearch {
  return { state: STATES.find((each) => each === given.state) }
}
