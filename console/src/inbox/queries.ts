/** What the inbox asks of the API. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'

import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'

import { filtersOf, type InboxSearch } from './search'

export type Row = Model<'ListedDocument'>

const PAGE = 100
const POLL_MS = 5_000
const MOST_POLLED = 3

/** The rows of a view, page by page. A long list is asked again by events only: each of its pages is a request. */
export function rowsQuery(search: InboxSearch) {
  const query = filtersOf(search)
  return infiniteQueryOptions({
    queryKey: keys.documents.list(query),
    queryFn: ({ pageParam, signal }) =>
      read(api.GET('/v1/documents', { params: { query: { ...query, limit: PAGE, after: pageParam } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.after ?? undefined,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > MOST_POLLED ? false : POLL_MS),
  })
}

/** How many documents each tab has, of those that the search finds. */
export function countsQuery({ text }: InboxSearch) {
  const query = text ? { text } : {}
  return queryOptions({
    queryKey: keys.documents.counts(query),
    queryFn: ({ signal }) => read(api.GET('/v1/documents/counts', { params: { query }, signal })),
    refetchInterval: POLL_MS,
    placeholderData: keepPreviousData,
  })
}
