/** The list that a document was opened from, and its neighbours there. The list is a query, carried in the URL. */
import { queryOptions } from '@tanstack/react-query'

import { api, read } from '@/api/client'
import { keys } from '@/api/keys'
import type { paths } from '@/api/schema'

export const DEFAULT_QUEUE = 'status=attention'
const ALLOWED = ['status', 'document_type', 'vendor', 'text', 'since', 'until', 'sort']
const PAGE = 500
const MOST = 2000

type Filters = NonNullable<paths['/v1/documents']['get']['parameters']['query']>

export type Neighbours = { next: string | undefined; previous: string | undefined; place: number; total: number }

/** The filters of a queue's text, without what the list does not know. */
export function filtersOf(queue: string): Record<string, string> {
  const given = [...new URLSearchParams(queue || DEFAULT_QUEUE)]
  return Object.fromEntries(given.filter(([name, value]) => ALLOWED.includes(name) && value !== ''))
}

/** The review ids of a queue, in its order; those that someone else works on are left out. */
export function queueQuery(queue: string, me: string) {
  const query: Filters = filtersOf(queue)
  return queryOptions({
    queryKey: keys.documents.list({ ...query, ids: true }),
    queryFn: async ({ signal }) => {
      const ids: string[] = []
      let after: string | undefined
      do {
        const page = await read(
          api.GET('/v1/documents', { params: { query: { ...query, limit: PAGE, after } }, signal }),
        )
        for (const { review_id: id, claimed_by: by } of page.documents)
          if (id && (by === null || by === me)) ids.push(id)
        after = page.after ?? undefined
      } while (after && ids.length < MOST)
      return ids
    },
  })
}

/** The neighbours of an item; undefined if the list does not have it. */
export function neighboursOf(ids: readonly string[], id: string): Neighbours | undefined {
  const index = ids.indexOf(id)
  if (index < 0) return undefined
  return { next: ids[index + 1], previous: ids[index - 1], place: index + 1, total: ids.length }
}
