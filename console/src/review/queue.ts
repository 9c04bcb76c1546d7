/** The list that a document was opened from, and its neighbours there. The list is a query, carried in the URL. */
import { queryOptions } from '@tanstack/react-query'

import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'

export const DEFAULT_QUEUE = 'status=attention'
const ALLOWED = ['status', 'document_type', 'vendor', 'text', 'since', 'until', 'sort']
const FIRST = 100

export type Neighbours = Model<'Neighbours'>

/** The filters of a queue's text, without what the list does not know. */
export function filtersOf(queue: string): Record<string, string> {
  const given = [...new URLSearchParams(queue || DEFAULT_QUEUE)]
  return Object.fromEntries(given.filter(([name, value]) => ALLOWED.includes(name) && value !== ''))
}

/** Another item of a queue, and the document that it follows there as a look-alike. */
export type Neighbour = { reviewId: string; below?: string }

export function nextOf({ next, next_below: below }: Neighbours): Neighbour | undefined {
  return next === null ? undefined : { reviewId: next, ...(below !== null && { below }) }
}

export function previousOf({ previous, previous_below: below }: Neighbours): Neighbour | undefined {
  return previous === null ? undefined : { reviewId: previous, ...(below !== null && { below }) }
}

/** The place of a document in a queue. The server knows it even when the document has just left the list. */
export function neighboursQuery(queue: string, documentId: string | undefined, below: string | undefined) {
  const query = { ...filtersOf(queue), below }
  return queryOptions({
    queryKey: keys.documents.list({ ...query, near: documentId }),
    queryFn: ({ signal }) => {
      const path = { document_id: documentId ?? '' }
      return read(api.GET('/v1/documents/{document_id}/neighbours', { params: { path, query }, signal }))
    },
    enabled: documentId !== undefined,
  })
}

/** The first item of a queue but one: it has come meanwhile, or was passed over. Those that others work on are left out. */
export async function firstOf(queue: string, but: string, me: string): Promise<string | undefined> {
  const query = { ...filtersOf(queue), limit: FIRST }
  const { documents } = await read(api.GET('/v1/documents', { params: { query } }))
  const found = documents.find(({ review_id: id, claimed_by: by }) => id && id !== but && (by === null || by === me))
  return found?.review_id ?? undefined
}
