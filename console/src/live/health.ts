/** Which services answer: asked now and then, more often while one does not. */
import { queryOptions } from '@tanstack/react-query'

import { api, type Model } from '@/api/client'

export const SERVICES = ['postgresql', 'store', 'temporal', 'worker'] as const
export type Service = (typeof SERVICES)[number]
/** What a banner says: the server, or the most important service that does not answer. */
export type Trouble = 'server' | Service | undefined

const WELL_MS = 15_000
const TROUBLED_MS = 4_000

export const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: load,
  retry: 1,
  refetchInterval: ({ state }) => (state.status === 'error' || state.data?.ready === false ? TROUBLED_MS : WELL_MS),
})

async function load(): Promise<Model<'Readiness'>> {
  const { data, error } = await api.GET('/readyz')
  const found = data ?? error // 503 has the same body
  if (!found || typeof found.ready !== 'boolean') throw new Error('not an answer of Docrail')
  return found
}

/** Returns what does not answer; the first of several. */
export function troubleOf(health: Model<'Readiness'> | undefined, isUnreachable: boolean): Trouble {
  if (isUnreachable) return 'server'
  return health && SERVICES.find((service) => health[service] !== 'ok')
}
