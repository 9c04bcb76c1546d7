/** What the page asks the API for. */
import { queryOptions } from '@tanstack/react-query'

import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'
import { isProblem } from '@/api/problem'

export type HistoryEvent = Model<'HistoryEvent'>
export type Readings = Model<'DocumentReadings'>

const of = (documentId: string) => ({ params: { path: { document_id: documentId } } })

export const documentQuery = (documentId: string) =>
  queryOptions({
    queryKey: keys.documents.one(documentId),
    queryFn: ({ signal }) => read(api.GET('/v1/documents/{document_id}', { ...of(documentId), signal })),
  })

export const historyQuery = (documentId: string) =>
  queryOptions({
    queryKey: keys.documents.one(documentId, 'history'),
    queryFn: ({ signal }) => read(api.GET('/v1/documents/{document_id}/history', { ...of(documentId), signal })),
  })

export const readingsQuery = (documentId: string) =>
  queryOptions({
    queryKey: keys.documents.one(documentId, 'readings'),
    queryFn: ({ signal }) => read(api.GET('/v1/documents/{document_id}/readings', { ...of(documentId), signal })),
  })

export const runsQuery = (documentId: string) =>
  queryOptions({
    queryKey: keys.runs.list({ document: documentId }),
    queryFn: ({ signal }) =>
      read(api.GET('/v1/runs', { params: { query: { document: documentId, limit: 20 } }, signal })),
  })

/** The document's review item; null before there is one. */
export const reviewQuery = (documentId: string) =>
  queryOptions({
    queryKey: keys.documents.one(documentId, 'review'),
    queryFn: () => reviewOf(documentId),
  })

async function reviewOf(documentId: string): Promise<Model<'FullReview'> | null> {
  try {
    const fields = await read(api.GET('/v1/documents/{document_id}/fields', of(documentId)))
    const path = { review_id: fields.review_id }
    return await read(api.GET('/v1/reviews/{review_id}', { params: { path } }))
  } catch (error) {
    if (isProblem(error, 'not-found') || isProblem(error, 'forbidden')) return null
    throw error
  }
}
