import { expect, test } from 'vitest'

import { listQuery, listSearch, runSearch } from './search'

test('unknown values in a URL are dropped', () => {
  expect(listSearch({ status: 'lost', definition: 7, within: '1y', time: 'ended', x: 1 })).toEqual({ definition: '7' })
  expect(runSearch({ view: 'map', step: '', open: '1-2;3' })).toEqual({})
  expect(runSearch({ view: 'timeline', step: 'pay', open: '0-49,50-99' })).toEqual({
    view: 'timeline',
    step: 'pay',
    open: '0-49,50-99',
  })
})

test('a period is about the start unless the URL names the end', () => {
  const now = Date.parse('2026-11-23T18:00:00Z')
  expect(listQuery(listSearch({ within: '24h' }), now)).toEqual({ started_since: '2026-11-22T18:00:00.000Z' })
  expect(listQuery(listSearch({ within: '1h', time: 'ended', status: 'failed' }), now)).toEqual({
    status: 'failed',
    ended_since: '2026-11-23T17:00:00.000Z',
  })
})
