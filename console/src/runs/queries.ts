/** What the pages of runs ask the server for. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'

import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'

import { type ListSearch, listQuery } from './search'
import { isOver } from './states'

export type Run = Model<'RunSummary'>
export type RunGraph = Model<'RunGraph'>
export type RunHead = Model<'RunHead'>
export type NodeState = Model<'NodeState'>
export type StepLine = Model<'StepLine'>
export type StepDetail = Model<'StepDetail'>
export type Action = Model<'Action'>

/** How often an open run is asked for its state: while events arrive, only for attempts, which send none. */
const LIVE_MS = 5000
const POLLED_MS = 1000
const LIST_EVERY_MS = 10_000
const PAGE = 100

export const runsQuery = (search: ListSearch) =>
  infiniteQueryOptions({
    queryKey: keys.runs.list(search),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const query = { ...listQuery(search, Date.now()), limit: PAGE, after: pageParam }
      return read(api.GET('/v1/runs', { params: { query }, signal }))
    },
    getNextPageParam: (page) => page.after ?? undefined,
    refetchInterval: ({ state }) => (state.data && state.data.pages.length > 1 ? false : LIST_EVERY_MS),
  })

/** The drawing: asked for once for each set of open groups, never because a state has changed. So it has a key of its own. */
export const graphQuery = (runId: string, open: string | undefined) =>
  queryOptions({
    queryKey: ['drawings', runId, { open }],
    queryFn: ({ signal }) =>
      read(api.GET('/v1/runs/{run_id}/graph', { params: { path: { run_id: runId }, query: { open } }, signal })),
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  })

/** The states of the nodes that are drawn. Unchanged ones cost no body: the browser has them. */
export const statesQuery = (runId: string, open: string, isLive: boolean) =>
  queryOptions({
    queryKey: keys.runs.one(runId, 'states', { open }),
    queryFn: ({ signal }) =>
      read(api.GET('/v1/runs/{run_id}/states', { params: { path: { run_id: runId }, query: { open } }, signal })),
    refetchInterval: ({ state }) =>
      state.data && isOver(state.data.run.status) ? false : isLive ? LIVE_MS : POLLED_MS,
    staleTime: 0,
  })

/** The steps of a run in plan order. `version` is whatever changes with the run. */
export const stepsQuery = (runId: string, search: string, version: string) =>
  queryOptions({
    queryKey: keys.runs.one(runId, 'steps', { search, version }),
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/runs/{run_id}/steps', {
          params: { path: { run_id: runId }, query: { search, limit: 5000 } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  })

/** The details of a step. `version` is whatever changes with the step, so that they are asked for again. */
export const stepQuery = (runId: string, stepId: string, version: string) =>
  queryOptions({
    queryKey: keys.runs.one(runId, 'step', stepId, version),
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/runs/{run_id}/steps/{step_id}', {
          params: { path: { run_id: runId, step_id: stepId } },
          signal,
        }),
      ),
  })

export const itemsQuery = (runId: string, stepId: string, status: Model<'StepStatus'> | undefined) =>
  infiniteQueryOptions({
    queryKey: keys.runs.one(runId, 'items', stepId, { status }),
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam, signal }) =>
      read(
        api.GET('/v1/runs/{run_id}/steps/{step_id}/items', {
          params: { path: { run_id: runId, step_id: stepId }, query: { status, after: pageParam, limit: 100 } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.after ?? undefined,
  })

/** The open questions to people of a run and of the runs in it. */
export const questionsQuery = (runId: string) =>
  queryOptions({
    queryKey: keys.reviews.list({ run_id: runId, status: 'open' }),
    queryFn: ({ signal }) =>
      read(api.GET('/v1/reviews', { params: { query: { run_id: runId, status: 'open', limit: 100 } }, signal })),
  })

/** What a run waits for. `version` is whatever changes with the run. */
export const waitsQuery = (runId: string, version: string) =>
  queryOptions({
    queryKey: keys.runs.one(runId, 'waits', version),
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      read(api.GET('/v1/runs/{run_id}/waits', { params: { path: { run_id: runId }, query: { limit: 20 } }, signal })),
  })
