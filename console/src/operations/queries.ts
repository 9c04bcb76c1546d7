/** What the operations page asks the server for, and what it changes. */
import { infiniteQueryOptions, type QueryKey, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'

import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'

export type Worker = Model<'Worker'>
export type Queue = Model<'QueueState'>
export type Limit = Model<'TagLimit'>
export type Quota = Model<'SetQuota'>
export type Schedule = Model<'ShownSchedule'>
export type ScheduleName = Model<'ScheduleName'>
export type Trigger = Model<'Trigger'>
export type Key = Model<'Key'>
export type AuditFilters = { actor?: string; act?: string; subject?: string }

const FLEET_MS = 3_000
const SLOW_MS = 10_000

export const fleetQuery = queryOptions({
  queryKey: keys.workers.list(),
  queryFn: ({ signal }) => read(api.GET('/v1/workers', { signal })),
  refetchInterval: FLEET_MS,
})

export const limitsQuery = queryOptions({
  queryKey: keys.limits.list(),
  queryFn: ({ signal }) => read(api.GET('/v1/limits', { signal })),
  refetchInterval: SLOW_MS,
})

export const schedulesQuery = queryOptions({
  queryKey: keys.schedules.list(),
  queryFn: ({ signal }) => read(api.GET('/v1/schedules', { signal })),
  refetchInterval: SLOW_MS,
})

export const triggersQuery = queryOptions({
  queryKey: keys.triggers.list(),
  queryFn: ({ signal }) => read(api.GET('/v1/triggers', { signal })),
  refetchInterval: SLOW_MS,
})

export const usageQuery = queryOptions({
  queryKey: keys.usage.list(),
  queryFn: ({ signal }) => read(api.GET('/v1/usage', { signal })),
  refetchInterval: SLOW_MS,
})

export const quotasQuery = (tenant?: string) =>
  queryOptions({
    queryKey: keys.quotas.list({ tenant }),
    queryFn: ({ signal }) => read(api.GET('/v1/quotas', { params: { query: { tenant } }, signal })),
  })

export const tenantsQuery = queryOptions({
  queryKey: keys.tenants.list(),
  queryFn: ({ signal }) => read(api.GET('/v1/tenants', { signal })),
})

export const keysQuery = infiniteQueryOptions({
  queryKey: keys.keys.list(),
  initialPageParam: undefined as string | undefined,
  queryFn: ({ pageParam, signal }) =>
    read(api.GET('/v1/keys', { params: { query: { limit: 100, after: pageParam } }, signal })),
  getNextPageParam: (page) => page.after ?? undefined,
})

export const sessionsQuery = infiniteQueryOptions({
  queryKey: keys.sessions.list(),
  initialPageParam: undefined as string | undefined,
  queryFn: ({ pageParam, signal }) =>
    read(api.GET('/v1/sessions', { params: { query: { limit: 100, after: pageParam } }, signal })),
  getNextPageParam: (page) => page.after ?? undefined,
  refetchInterval: SLOW_MS,
})

export const auditQuery = (filters: AuditFilters) =>
  infiniteQueryOptions({
    queryKey: keys.audit.list(filters),
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam, signal }) => {
      const query = { ...filters, limit: 100, before: pageParam }
      return read(api.GET('/v1/audit/newest', { params: { query }, signal }))
    },
    getNextPageParam: (page) => page.before ?? undefined,
  })

export const verifyAudit = () => read(api.GET('/v1/audit/verify'))

/** Changes something on the server, and reads again what it has changed. */
export function useChange<Order, Answer>(change: (order: Order) => Promise<Answer>, changed: QueryKey) {
  const client = useQueryClient()
  return useMutation({ mutationFn: change, onSettled: () => client.invalidateQueries({ queryKey: changed }) })
}

export const setLimit = ({ tag, per_second, reason }: { tag: string; per_second: number; reason: string }) =>
  read(api.PUT('/v1/limits/{tag}', { params: { path: { tag } }, body: { per_second, reason } }))

export const resetLimit = ({ tag }: { tag: string }) =>
  read(api.DELETE('/v1/limits/{tag}', { params: { path: { tag } } }))

export type QuotaOrder = Pick<Quota, 'quota' | 'tenant' | 'key_id' | 'value'>

export const setQuota = ({ quota, ...body }: QuotaOrder) =>
  read(api.PUT('/v1/quotas/{quota}', { params: { path: { quota } }, body }))

export const resetQuota = ({ quota, tenant, key_id }: Quota) =>
  read(
    api.DELETE('/v1/quotas/{quota}', { params: { path: { quota }, query: { tenant, key_id: key_id ?? undefined } } }),
  )

export const switchSchedule = (order: { schedule: ScheduleName; isPaused: boolean; reason: string }) => {
  const request = { params: { path: { schedule: order.schedule } }, body: { reason: order.reason } }
  return read(
    order.isPaused
      ? api.POST('/v1/schedules/{schedule}/resume', request)
      : api.POST('/v1/schedules/{schedule}/pause', request),
  )
}

export const runSchedule = ({ schedule }: { schedule: ScheduleName }) =>
  read(api.POST('/v1/schedules/{schedule}/run', { params: { path: { schedule } } }))

export const createTrigger = (body: Model<'TriggerOrder'>) => read(api.POST('/v1/triggers', { body }))

export const switchTrigger = (order: { trigger: string; isPaused: boolean; reason: string }) => {
  const request = { params: { path: { trigger: order.trigger } }, body: { reason: order.reason } }
  return read(
    order.isPaused
      ? api.POST('/v1/triggers/{trigger}/resume', request)
      : api.POST('/v1/triggers/{trigger}/pause', request),
  )
}

export const fireTrigger = ({ trigger }: { trigger: string }) =>
  read(api.POST('/v1/triggers/{trigger}/run', { params: { path: { trigger } } }))

export const deleteTrigger = ({ trigger }: { trigger: string }) =>
  read(api.DELETE('/v1/triggers/{trigger}', { params: { path: { trigger } } }))

export const createKey = (body: Model<'KeyIn'>) => read(api.POST('/v1/keys', { body }))

export const rotateKey = ({ key_id, overlap_hours }: { key_id: string; overlap_hours: number }) =>
  read(api.POST('/v1/keys/{key_id}/rotate', { params: { path: { key_id } }, body: { overlap_hours } }))

export const revokeKey = ({ key_id }: { key_id: string }) =>
  read(api.DELETE('/v1/keys/{key_id}', { params: { path: { key_id } } }))

export const revokeSession = ({ session_id }: { session_id: string }) =>
  read(api.DELETE('/v1/sessions/{session_id}', { params: { path: { session_id } } }))
