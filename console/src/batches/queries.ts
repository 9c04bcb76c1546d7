/** What the pages of batches ask the server for, and what they order. Events make the answers stale (live/stale.ts). */
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'

import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'

import type { DocumentState } from './search'

export type Batch = Model<'Batch'>
export type BatchDocument = Model<'BatchDocument'>
export type BatchAct = 'pause' | 'resume' | 'cancel' | 'close'

const RATE_MS = 5_000

export const batchesQuery = infiniteQueryOptions({
  queryKey: keys.batches.list(),
  queryFn: ({ pageParam, signal }) =>
    read(api.GET('/v1/batches', { params: { query: { limit: 20, after: pageParam } }, signal })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.after ?? undefined,
})

/** A batch; its rate falls without an event, so one that goes on is asked for again. */
export const batchQuery = (batchId: string) =>
  queryOptions({
    queryKey: keys.batches.one(batchId),
    queryFn: ({ signal }) =>
      read(api.GET('/v1/batches/{batch_id}', { params: { path: { batch_id: batchId } }, signal })),
    refetchInterval: ({ state }) => (state.data && !state.data.completed_at ? RATE_MS : false),
  })

export const documentsQuery = (batchId: string, state: DocumentState | undefined) =>
  infiniteQueryOptions({
    queryKey: keys.batches.one(batchId, 'documents', { state }),
    queryFn: ({ pageParam, signal }) => {
      const params = { path: { batch_id: batchId }, query: { limit: 100, after: pageParam, state } }
      return read(api.GET('/v1/batches/{batch_id}/documents', { params, signal }))
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.after ?? undefined,
  })

export function useActOnBatch(batchId: string) {
  return useChange(batchId, (act: BatchAct) =>
    read(api.POST(`/v1/batches/{batch_id}/${act}`, { params: { path: { batch_id: batchId } } })),
  )
}

/** Retries the failed documents, all or those of an error class. */
export function useRetryBatch(batchId: string) {
  return useChange(batchId, (errorType: string | undefined) =>
    read(
      api.POST('/v1/batches/{batch_id}/retry', {
        params: { path: { batch_id: batchId } },
        body: errorType === undefined ? {} : { error_type: errorType },
      }),
    ),
  )
}

function useChange<Order>(batchId: string, change: (order: Order) => Promise<Batch>) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess: (batch) => client.setQueryData(keys.batches.one(batchId), batch),
    onSettled: () => client.invalidateQueries({ queryKey: keys.batches.all }),
  })
}
