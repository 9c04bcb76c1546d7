/** What the inbox asks of the API. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'

import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'

import { filtersOf, type InboxSearch } from './search'

export type Row = Model<'ListedDocument'>

const FIRST_PAGE = 100
const LATER_PAGE = 500

/** The rows of a view, page by page. Later pages are larger: an event asks for all that are loaded again. */
export function rowsQuery(search: InboxSearch) {
  const query = filtersOf(search)
  return infiniteQueryOptions({
    queryKey: keys.documents.list(query),
    queryFn: ({ pageParam: after, signal }) => {
      const limit = after === undefined ? FIRST_PAGE : LATER_PAGE
      return read(api.GET('/v1/documents', { params: { query: { ...query, limit, after } }, signal }))
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.after ?? undefined,
  })
}

/** How many documents each tab has, of those that the search finds. */
export function countsQuery({ text }: InboxSearch) {
  const query = text ? { text } : {}
  return queryOptions({
    queryKey: keys.documents.counts(query),
    queryFn: ({ signal }) => read(api.GET('/v1/documents/counts', { params: { query }, signal })),
    placeholderData: keepPreviousData,
  })
}
