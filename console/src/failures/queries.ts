/** What the failures page asks the server for, and what it orders. */
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'

import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'

export type Group = Model<'LetterGroup'>
export type Letter = Model<'StoredLetter'>
export type LetterKey = { run_id: string; step_id: string }

const EVERY_MS = 10_000
const MOST_AT_ONCE = 100

export const groupsQuery = queryOptions({
  queryKey: keys.failures.list({ of: 'groups' }),
  queryFn: ({ signal }) => read(api.GET('/v1/dead-letters/groups', { params: { query: { limit: 200 } }, signal })),
  refetchInterval: EVERY_MS,
})

export const lettersQuery = (group: Pick<Group, 'error_type' | 'definition_id' | 'step_id'>) =>
  infiniteQueryOptions({
    queryKey: keys.failures.list({ ...wanted(group) }),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const query = { ...wanted(group), view: 'all' as const, limit: 50, after: pageParam }
      return read(api.GET('/v1/dead-letters', { params: { query }, signal }))
    },
    getNextPageParam: (page) => page.after ?? undefined,
    refetchInterval: EVERY_MS,
  })

/** Retries a whole group, or some letters, in calls of at most 100. Each letter is tried once. */
export function useRetryLetters() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (order: { group: Group } | { letters: LetterKey[] }) =>
      'group' in order ? retryGroup(order.group) : retryEach(order.letters),
    onSettled: () =>
      Promise.all([keys.failures.all, keys.runs.all].map((queryKey) => client.invalidateQueries({ queryKey }))),
  })
}

/** Closes letters without touching their runs, one after the other; the first refusal ends it. */
export function useDismiss() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async (letters: LetterKey[]) => {
      for (const { run_id, step_id } of letters) {
        const params = { path: { run_id, step_id } }
        await read(api.POST('/v1/dead-letters/{run_id}/{step_id}/resolve', { params, body: { action: 'dismiss' } }))
      }
    },
    onSettled: () => client.invalidateQueries({ queryKey: keys.failures.all }),
  })
}

export type Result = { retried: number; refused: Model<'RetryOutcome'>[] }

async function retryGroup(group: Group): Promise<Result> {
  const before = new Date().toISOString() // what fails again in the meantime is not tried twice
  const total: Result = { retried: 0, refused: [] }
  for (let left = group.letters; left > 0; left -= MOST_AT_ONCE) {
    const result = await retryOnce({ ...wanted(group), failed_before: before, limit: MOST_AT_ONCE })
    total.retried += result.retried
    total.refused.push(...result.refused)
    if (result.retried === 0) break // the same ones would be refused again
  }
  return total
}

async function retryEach(letters: LetterKey[]): Promise<Result> {
  const total: Result = { retried: 0, refused: [] }
  for (let from = 0; from < letters.length; from += MOST_AT_ONCE) {
    const result = await retryOnce({ letters: letters.slice(from, from + MOST_AT_ONCE) })
    total.retried += result.retried
    total.refused.push(...result.refused)
  }
  return total
}

async function retryOnce(body: Model<'BulkIn'>): Promise<Result> {
  const { outcomes } = await read(api.POST('/v1/dead-letters/retry', { body }))
  return { retried: outcomes.filter((each) => each.retried).length, refused: outcomes.filter((each) => !each.retried) }
}

function wanted(group: Pick<Group, 'error_type' | 'definition_id' | 'step_id'>) {
  return { class: group.error_type, definition: group.definition_id, step: group.step_id }
}
