/** The list that a document was opened from, and its neighbours there. The list is a query, carried in the URL. */
import { queryOptions } from '@tanstack/react-query'

import { api, read } from '@/api/client'
import { keys } from '@/api/keys'

export const DEFAULT_QUEUE = 'status=attention'
const ALLOWED = ['status', 'document_type', 'vendor', 'text', 'since', 'until', 'sort']
const LONGEST = 200

export type Neighbours = { next: string | undefined; previous: string | undefined; place: number; total: number }

/** The filters of a queue's text, without what the list does not know. */
export function filtersOf(queue: string): Record<string, string> {
  const given = [...new URLSearchParams(queue || DEFAULT_QUEUE)]
  return Object.fromEntries(given.filter(([name, value]) => ALLOWED.includes(name) && value !== ''))
}

/** The review ids of a queue, in its order: those that someone else works on are left out, except `id`. */
export function queueQuery(queue: string, me: string) {
  const query = { ...filtersOf(queue), limit: LONGEST }
  return queryOptions({
    queryKey: keys.documents.list({ queue: query }),
    queryFn: async () => {
      const asked = { status: 'open', kind: 'document', limit: LONGEST } as const
      const page = await read(api.GET('/v1/reviews', { params: { query: asked } }))
      return page.reviews
        .filter((each) => each.claimed_by === null || each.claimed_by === me)
        .map((each) => each.review_id)
    },
  })
}

/** The neighbours of an item; undefined if the list does not have it. */
export function neighboursOf(ids: readonly string[], id: string): Neighbours | undefined {
  const index = ids.indexOf(id)
  if (index < 0) return undefined
  return { next: ids[index + 1], previous: ids[index - 1], place: index + 1, total: ids.length }
}
