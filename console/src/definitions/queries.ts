/** What the pages of definitions ask the server for. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'

import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'

export type Listed = Model<'ListedDefinition'>
export type Version = Model<'ListedVersion'>
export type VersionPage = Model<'VersionPage'>
export type Stored = Model<'StoredDefinition'>
export type Aliases = Listed['aliases']
export type Target = Aliases[string]
export type Comparison = Model<'Comparison'>
export type RunCounts = Model<'RunCounts'>

/** As many as the server counts the runs of at once. */
const PAGE = 60
const COUNTED_EVERY_MS = 15_000
const FAILED_WITHIN_MS = 7 * 24 * 3_600_000

export const definitionsQuery = infiniteQueryOptions({
  queryKey: keys.definitions.list({ of: 'page' }),
  initialPageParam: undefined as string | undefined,
  queryFn: ({ pageParam, signal }) =>
    read(api.GET('/v1/definitions', { params: { query: { limit: PAGE, after: pageParam } }, signal })),
  getNextPageParam: (page) => page.after ?? undefined,
})

/** How many runs are open and have failed lately. Not asked at each event of a run: counting is work for Temporal. */
export const countsQuery = (definitionIds: readonly string[]) =>
  queryOptions({
    queryKey: ['run-counts', definitionIds],
    queryFn: ({ signal }) => {
      const since = new Date(Date.now() - FAILED_WITHIN_MS).toISOString()
      const query = { definitions: definitionIds.join(','), failed_since: since }
      return read(api.GET('/v1/runs/counts', { params: { query }, signal }))
    },
    enabled: definitionIds.length > 0,
    refetchInterval: COUNTED_EVERY_MS,
    retry: false,
  })

export const versionsQuery = (definitionId: string) =>
  infiniteQueryOptions({
    queryKey: keys.definitions.one(definitionId, 'versions'),
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam, signal }) =>
      read(
        api.GET('/v1/definitions/{definition_id}/versions', {
          params: { path: { definition_id: definitionId }, query: { limit: 100, after: pageParam } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.after ?? undefined,
  })

/** One version. It never changes, so no event makes it stale. */
export const versionQuery = (definitionId: string, version: number) =>
  queryOptions({
    queryKey: ['definition-versions', definitionId, version],
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/definitions/{definition_id}', {
          params: { path: { definition_id: definitionId }, query: { version } },
          signal,
        }),
      ),
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  })

export const drawingQuery = (definitionId: string, version: number, open: string | undefined) =>
  queryOptions({
    queryKey: ['definition-drawings', definitionId, version, { open }],
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/definitions/{definition_id}/graph', {
          params: { path: { definition_id: definitionId }, query: { version, open } },
          signal,
        }),
      ),
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  })

export const comparisonQuery = (definitionId: string, from: number, to: number) =>
  queryOptions({
    queryKey: ['definition-changes', definitionId, from, to],
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/definitions/{definition_id}/diff', {
          params: { path: { definition_id: definitionId }, query: { from: String(from), to: String(to) } },
          signal,
        }),
      ),
    staleTime: Infinity,
  })

/** What the server says today about the text of a version: handlers may have changed since it was published. */
export const problemsQuery = (definitionId: string, version: number, source: string) =>
  queryOptions({
    queryKey: keys.definitions.one(definitionId, 'problems', version),
    queryFn: ({ signal }) => read(api.POST('/v1/definitions/validate', { body: { definition: source }, signal })),
  })

export const movesQuery = (definitionId: string) =>
  infiniteQueryOptions({
    queryKey: keys.definitions.one(definitionId, 'moves'),
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam, signal }) =>
      read(
        api.GET('/v1/definitions/{definition_id}/moves', {
          params: { path: { definition_id: definitionId }, query: { limit: 100, after: pageParam } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.after ?? undefined,
  })

export const dependantsQuery = (definitionId: string) =>
  queryOptions({
    queryKey: keys.definitions.one(definitionId, 'dependants'),
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/definitions/{definition_id}/dependants', {
          params: { path: { definition_id: definitionId } },
          signal,
        }),
      ),
  })
