/** What the page asks the API for. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'

import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'

import type { Order } from './order'

export type Export = Model<'Export'>

const POLL_MS = 1000

export function previewQuery(order: Order, isComplete: boolean) {
  return queryOptions({
    queryKey: keys.exports.one('preview', order),
    queryFn: ({ signal }) => read(api.POST('/v1/exports/preview', { body: order, signal })),
    enabled: isComplete,
    placeholderData: keepPreviousData,
  })
}

/** Earlier exports; while one is being made, the list is asked for again. */
export const exportsQuery = infiniteQueryOptions({
  queryKey: keys.exports.list(),
  queryFn: ({ pageParam, signal }) =>
    read(api.GET('/v1/exports', { params: { query: { limit: 25, after: pageParam } }, signal })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.after ?? undefined,
  refetchInterval: ({ state }) =>
    state.data?.pages.some((page) => page.exports.some((each) => !each.ended_at)) ? POLL_MS : false,
})

/** Orders an export. The key makes sure that a repeated request is the same export. */
export function orderExport(order: Order, key: string): Promise<Export> {
  return read(api.POST('/v1/exports', { body: order, params: { header: { 'Idempotency-Key': key } } }))
}
