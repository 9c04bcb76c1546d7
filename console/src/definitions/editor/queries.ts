/** What the editor of definitions asks the API. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query'

import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'

export type Stored = Model<'StoredDefinition'>

/** The newest version, whatever new runs get: it is what a new version follows. */
export const newestQuery = (definitionId: string) =>
  queryOptions({
    queryKey: keys.definitions.one(definitionId, 'newest'),
    queryFn: async ({ signal }) => {
      const path = { definition_id: definitionId }
      const params = { path, query: { limit: 1 } }
      const page = await read(api.GET('/v1/definitions/{definition_id}/versions', { params, signal }))
      return page.versions[0]?.version ?? 0
    },
  })

export const versionQuery = (definitionId: string, version: number) =>
  queryOptions({
    queryKey: ['definition-versions', definitionId, version], // a published version never changes
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/definitions/{definition_id}', {
          params: { path: { definition_id: definitionId }, query: { version } },
          signal,
        }),
      ),
    staleTime: Infinity,
  })

/** All problems of a text, and its drawing. A newer text aborts the request for an older one. */
export const validationQuery = (text: string, open: string) =>
  queryOptions({
    queryKey: ['validation', text, open],
    queryFn: ({ signal }) =>
      read(
        api.POST('/v1/definitions/validate', {
          params: { query: { draw: true, open } },
          body: { definition: text },
          signal,
        }),
      ),
    staleTime: 30_000, // whether a nested definition is published may change
    gcTime: 10_000,
    placeholderData: keepPreviousData,
  })

export const schemaQuery = queryOptions({
  queryKey: ['definition-schema'],
  queryFn: ({ signal }) => read(api.GET('/v1/definitions/schema', { signal })),
  staleTime: Infinity,
})

export const summariesQuery = queryOptions({
  queryKey: keys.handlers.list({ of: 'summaries' }),
  queryFn: async ({ signal }) => {
    const { handlers } = await read(api.GET('/v1/handlers', { signal }))
    const entries = handlers.flatMap(({ name, aliases, summary }) =>
      [name, ...aliases].map((each) => [each, summary] as const),
    )
    return Object.fromEntries(entries)
  },
  staleTime: Infinity,
})
