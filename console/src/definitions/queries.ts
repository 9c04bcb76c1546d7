/** What the pages of definitions ask the server for. */
import { infiniteQueryOptions } from '@tanstack/react-query'

import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'

export type Listed = Model<'ListedDefinition'>
export type Aliases = Listed['aliases']

const PAGE = 100

export const definitionsQuery = infiniteQueryOptions({
  queryKey: keys.definitions.list({ of: 'page' }),
  initialPageParam: undefined as string | undefined,
  queryFn: ({ pageParam, signal }) =>
    read(api.GET('/v1/definitions', { params: { query: { limit: PAGE, after: pageParam } }, signal })),
  getNextPageParam: (page) => page.after ?? undefined,
})
