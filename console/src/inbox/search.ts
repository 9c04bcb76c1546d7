/** What the address of the inbox says: the tab, the search and the order. The review page carries it as its queue. */
import type { Model } from '@/api/client'

export type Status = Model<'DocumentStatus'>
export type Sort = Model<'DocumentSort'>

/** The tabs in their order. Completed and dismissed documents have none: they are among all. */
export const TABS = [
  'attention',
  'reading',
  'failed',
  'second',
  'postponed',
  'approved',
  'rejected',
  'exported',
  'all',
] as const
export type Tab = (typeof TABS)[number]

export const SORTS = ['newest', 'oldest', 'due', 'total', 'vendor'] as const satisfies readonly Sort[]

export type InboxSearch = { status?: Tab; text?: string; sort?: Sort }

const LONGEST_TEXT = 200

/** Reads an address; what is unknown or usual is left out, so that one view has one address. */
export function readSearch(found: Record<string, unknown>): InboxSearch {
  const status = TABS.find((each) => each === found.status)
  const sort = SORTS.find((each) => each === found.sort)
  const text = found.text === undefined ? '' : String(found.text).trim().slice(0, LONGEST_TEXT)
  return {
    ...(status && status !== 'attention' && { status }),
    ...(text && { text }),
    ...(sort && sort !== 'newest' && { sort }),
  }
}

/** The filters of a view as the API takes them. */
export function filtersOf({ status = 'attention', text, sort = 'newest' }: InboxSearch) {
  return { ...(status !== 'all' && { status }), ...(text && { text }), sort }
}

/** A view as one text, for `/review/{id}?queue=...`. */
export function queueOf(search: InboxSearch): string {
  return new URLSearchParams(filtersOf(search)).toString()
}
