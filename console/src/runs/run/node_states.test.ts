import { expect, test, vi } from 'vitest'

import type { NodeState } from '../queries'
import { nodeStates } from './node_states'

const state = (status: NodeState['status'], attempts = 0): NodeState => ({
  status,
  attempts,
  counts: {},
  error: null,
  reason: null,
  branch: null,
  items: null,
  compensation: null,
  started_at: null,
  ended_at: null,
})

test('a patch wakes up only the nodes that have changed', () => {
  const states = nodeStates()
  states.apply({ a: state('running'), b: state('pending') })
  const [a, b] = [vi.fn<() => void>(), vi.fn<() => void>()]
  states.subscribe('a', a)
  states.subscribe('b', b)
  expect(states.apply({ a: state('completed', 1), b: state('pending') })).toEqual(['a'])
  expect([a.mock.calls.length, b.mock.calls.length]).toEqual([1, 0])
  expect(states.get('a')?.status).toBe('completed')
})

test('an equal state stays the same object, so that nothing is drawn again', () => {
  const states = nodeStates()
  states.apply({ a: state('running') })
  const before = states.get('a')
  expect(states.apply({ a: state('running') })).toEqual([])
  expect(states.get('a')).toBe(before)
})

test('a node that is not drawn any more has no state', () => {
  const states = nodeStates()
  states.apply({ a: state('running') })
  expect(states.apply({})).toEqual(['a'])
  expect(states.get('a')).toBeUndefined()
})

test('whoever has left is not called', () => {
  const states = nodeStates()
  const listener = vi.fn<() => void>()
  states.subscribe('a', listener)()
  states.apply({ a: state('running') })
  expect(listener).not.toHaveBeenCalled()
})
