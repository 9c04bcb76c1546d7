/** What the screen of a decision asks the API. */
import { queryOptions } from '@tanstack/react-query'

import { api, read } from '@/api/client'
import { keys } from '@/api/keys'
import { isProblem } from '@/api/problem'

export const reviewQuery = (reviewId: string) =>
  queryOptions({
    queryKey: keys.reviews.one(reviewId),
    queryFn: () => read(api.GET('/v1/reviews/{review_id}', { params: { path: { review_id: reviewId } } })),
  })

/** The definition that the run follows, in the version that it was started with. */
export const processQuery = (runId: string) =>
  queryOptions({
    queryKey: ['processes', runId], // not below `runs`: no event of the run changes it
    staleTime: Infinity, // a run keeps its version
    queryFn: async () => {
      const run = await read(api.GET('/v1/runs/{run_id}', { params: { path: { run_id: runId } } }))
      const path = { definition_id: run.definition_id }
      const params = { path, query: { version: run.version } }
      return read(api.GET('/v1/definitions/{definition_id}', { params }))
    },
  })

export const documentQuery = (documentId: string) =>
  queryOptions({
    queryKey: keys.documents.one(documentId),
    queryFn: () => read(api.GET('/v1/documents/{document_id}', { params: { path: { document_id: documentId } } })),
  })

/** Whether the document has such a page. Its picture, which is asked for, is at hand when someone goes there. */
export const pageQuery = (documentId: string, page: number) =>
  queryOptions({
    queryKey: keys.documents.one(documentId, 'page', page),
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const path = { document_id: documentId, number: page }
      try {
        await read(
          api.GET('/v1/documents/{document_id}/pages/{number}.png', { params: { path }, parseAs: 'blob', signal }),
        )
        return true
      } catch (error) {
        if (isProblem(error, 'not-found')) return false
        throw error
      }
    },
  })

/** The open questions to people, the most urgent first. */
export const questionsQuery = queryOptions({
  queryKey: keys.reviews.list({ kind: 'step', status: 'open' }),
  queryFn: () => read(api.GET('/v1/reviews', { params: { query: { kind: 'step', status: 'open', limit: 200 } } })),
})
