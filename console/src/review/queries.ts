/** What the review page asks of the API. */
import { queryOptions } from '@tanstack/react-query'

import { api, read } from '@/api/client'
import { keys } from '@/api/keys'
import { queryClient } from '@/api/queries'
import { basePath } from '@/app/base'

import type { Fields, PlacedWord, View } from './model'

/** Everything that the page of an item shows. */
export function loadView(id: string) {
  return read(api.GET('/v1/reviews/{review_id}/view', { params: { path: { review_id: id } } }))
}

export function viewQuery(id: string) {
  return queryOptions({
    queryKey: keys.reviews.one(id, 'view'),
    queryFn: () => loadView(id),
    staleTime: 10_000,
  })
}

export function wordsQuery(documentId: string, page: number) {
  return queryOptions({
    queryKey: keys.documents.one(documentId, 'words', page),
    queryFn: async () => {
      const path = { document_id: documentId, number: page }
      const { words } = await read(api.GET('/v1/documents/{document_id}/pages/{number}/words', { params: { path } }))
      return words as PlacedWord[]
    },
    staleTime: Infinity,
    retry: 1,
  })
}

/** The address of a page's picture. */
export function pictureUrl(documentId: string, page: number, size: 'full' | 'small' = 'full'): string {
  return `${basePath}/v1/documents/${documentId}/pages/${page}.png${size === 'small' ? '?size=small' : ''}`
}

/** Puts the fields that an action returned into what is shown. */
export function showFields(id: string, fields: Fields): void {
  // What is on its way was asked before the action: it would show the fields as they were.
  void queryClient.cancelQueries({ queryKey: viewQuery(id).queryKey })
  queryClient.setQueryData<View>(viewQuery(id).queryKey, (view) => view && { ...view, fields })
  void queryClient.invalidateQueries({ queryKey: viewQuery(id).queryKey, refetchType: 'none' })
}

/** Loads again what the page of an item shows; resolves to nothing if it cannot be loaded. */
export async function refresh(id: string): Promise<View | undefined> {
  await queryClient.cancelQueries({ queryKey: viewQuery(id).queryKey }) // what is on its way may be older
  return queryClient.fetchQuery({ ...viewQuery(id), staleTime: 0 }).catch(() => undefined)
}

const pictures = new Map<string, HTMLImageElement>()
const MOST_PICTURES = 6

/** Loads what the page of an item shows first, so that it appears at once. It claims nothing. */
export async function fetchAhead(id: string): Promise<void> {
  const view = await queryClient.fetchQuery(viewQuery(id)).catch(() => undefined)
  if (!view || view.page_count === 0) return
  const url = pictureUrl(view.fields.document_id, 1)
  if (pictures.has(url)) return
  const picture = new Image()
  picture.src = url
  pictures.set(url, picture)
  const [oldest] = pictures.keys()
  if (pictures.size > MOST_PICTURES && oldest) pictures.delete(oldest)
  await picture.decode().catch(() => undefined)
}
