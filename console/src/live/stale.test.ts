import { QueryClient } from '@tanstack/react-query'
import { expect, test, vi } from 'vitest'

import { BURST_MS, staleness } from './stale'

test('a burst of events makes each key stale once, and only those of its kind', async () => {
  vi.useFakeTimers()
  const client = new QueryClient()
  const invalidate = vi.spyOn(client, 'invalidateQueries')
  const stale = staleness(client)
  for (let version = 0; version < 50; version += 1) stale.add({ kind: 'run', id: 'a.b', version })
  await vi.advanceTimersByTimeAsync(BURST_MS)
  expect(invalidate.mock.calls.map(([filters]) => filters?.queryKey)).toEqual([
    ['runs', 'one', 'a.b'],
    ['runs', 'list'],
    ['runs', 'counts'],
  ])
  vi.useRealTimers()
})

test('a review changes the row of its document too', async () => {
  vi.useFakeTimers()
  const client = new QueryClient()
  client.setQueryData(['documents', 'list', {}], [])
  client.setQueryData(['runs', 'list', {}], [])
  staleness(client).add({ kind: 'review', id: 'rev_1', version: 1 })
  await vi.advanceTimersByTimeAsync(BURST_MS)
  expect(client.getQueryState(['documents', 'list', {}])?.isInvalidated).toBe(true)
  expect(client.getQueryState(['runs', 'list', {}])?.isInvalidated).toBe(false)
  vi.useRealTimers()
})

test('after a gap everything is read again but who is signed in', () => {
  const client = new QueryClient()
  client.setQueryData(['documents', 'one', 'doc_1'], {})
  client.setQueryData(['me'], {})
  staleness(client).all()
  expect(client.getQueryState(['documents', 'one', 'doc_1'])?.isInvalidated).toBe(true)
  expect(client.getQueryState(['me'])?.isInvalidated).toBe(false)
})
