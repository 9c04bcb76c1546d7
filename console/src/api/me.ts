/** Who is signed in, and what they may do. */
import { queryOptions, useQuery } from '@tanstack/react-query'

import { api, type Model, read } from './client'
import { keys } from './keys'

export type Scope = Model<'Scope'>

export const meQuery = queryOptions({
  queryKey: keys.me,
  queryFn: () => read(api.GET('/v1/me')),
  staleTime: Infinity,
  refetchOnWindowFocus: 'always', // whoever comes back to an ended session sees it before they type
})

/** The person of this session; undefined until it is known. Below the shell it is known. */
export function useMe(): Model<'Me'> | undefined {
  return useQuery(meQuery).data
}

/** Whether the person has a scope. What they may not do is not shown; the server refuses it all the same. */
export function useMay(scope: Scope): boolean {
  return useMe()?.scopes.includes(scope) ?? false
}
