/** Which services answer: asked now and then, more often while one does not. */
import { queryOptions } from '@tanstack/react-query'

import { api, type Model, read } from '@/api/client'

export const SERVICES = ['postgresql', 'store', 'temporal', 'worker'] as const
export type Service = (typeof SERVICES)[number]
/** What a banner says: the server, or the most important service that does not answer. */
export type Trouble = 'server' | Service | undefined

const WELL_MS = 15_000
const TROUBLED_MS = 4_000

export const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: () => read(api.GET('/v1/health')),
  retry: 1,
  refetchInterval: ({ state }) => (state.status === 'error' || state.data?.ready === false ? TROUBLED_MS : WELL_MS),
})

/** Returns what does not answer; the first of several. */
export function troubleOf(health: Model<'Readiness'> | undefined, isUnreachable: boolean): Trouble {
  if (isUnreachable) return 'server'
  return health && SERVICES.find((service) => health[service] !== 'ok')
}
