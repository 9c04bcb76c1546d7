/** What a person does with runs and steps. The server decides whether it may be done; its answer is shown at once. */
import { useMutation, useQueryClient } from '@tanstack/react-query'

import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'

export type RunAction = Model<'RunAction'>
/** What can be done with many runs at once. */
export type BulkAction = Model<'BulkActionIn'>['action']
/** What a retry changes: steps, steps that run again although they completed, values of inputs. */
export type RetryOrder = Pick<Model<'RetryIn'>, 'steps' | 'from_steps' | 'inputs'>
export type Outcome = Model<'RunOutcome'>
type ItemEdit = Model<'ItemEditIn'>

/** A change of a step: another config, an output by hand, or nothing but the attempt. */
export type StepChange =
  | { kind: 'retry' }
  | { kind: 'edit'; config: Record<string, unknown> }
  | { kind: 'output'; output: unknown }
  | { kind: 'skip' }
  | { kind: 'items'; items: Record<string, ItemEdit> }

/** Takes one action on some runs; each has its own result. */
export function useActOnRuns() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (order: { action: BulkAction; run_ids: string[]; reason: string }) =>
      read(api.POST('/v1/runs/bulk', { body: order })),
    onSettled: () => client.invalidateQueries({ queryKey: keys.runs.all }),
  })
}

/** What a retry of the run would do; nothing happens. */
export function previewRetry(runId: string, order: RetryOrder) {
  return retryRun(runId, order, { preview: true, reason: '' })
}

function retryRun(runId: string, order: RetryOrder, options: { preview: boolean; reason: string }) {
  const path = { run_id: runId }
  return read(api.POST('/v1/runs/{run_id}/retry', { params: { path }, body: { ...order, ...options } }))
}

/** Starts an ended run again from steps, or with other inputs. */
export function useRerun(runId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ reason, ...order }: RetryOrder & { reason: string }) =>
      retryRun(runId, order, { preview: false, reason }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.runs.all }),
  })
}

/** Retries the run with the change, or resolves the step in its run if that waits for it. */
export function useRetry(runId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (order: { stepId: string; change: StepChange; isParked: boolean; reason: string }): Promise<unknown> =>
      order.isParked
        ? resolveStep(runId, order.stepId, order.change, order.reason)
        : retryRun(runId, orderOf(order.stepId, order.change), { preview: false, reason: order.reason }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.runs.all }),
  })
}

function resolveStep(runId: string, stepId: string, change: StepChange, reason: string) {
  const path = { run_id: runId, step_id: stepId }
  return read(
    api.POST('/v1/runs/{run_id}/steps/{step_id}/resolve', {
      params: { path },
      body: { ...resolutionOf(change), reason },
    }),
  )
}

/** The retry that makes the change to a step. */
export function orderOf(stepId: string, change: StepChange): RetryOrder {
  const edit = editOf(change)
  return { steps: edit ? { [stepId]: edit } : {} }
}

function editOf(change: StepChange): Model<'EditIn'> | undefined {
  switch (change.kind) {
    case 'retry':
      return undefined
    case 'edit':
      return { config: change.config }
    case 'output':
      return { output: change.output }
    case 'skip':
      return { skip: true }
    case 'items':
      return { items: change.items }
  }
}

function resolutionOf(change: StepChange): Omit<Model<'ResolveIn'>, 'reason'> {
  switch (change.kind) {
    case 'retry':
      return { action: 'retry' }
    case 'edit':
      return { action: 'retry', config: change.config }
    case 'output':
      return { action: 'output', output: change.output }
    case 'skip':
      return { action: 'skip' }
    case 'items':
      return { action: 'retry', items: change.items }
  }
}
