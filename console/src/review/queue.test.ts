import { expect, test } from 'vitest'

import { filtersOf, nextOf, previousOf } from './queue'

test('a queue has the filters that lists know, by default what needs attention', () => {
  expect(filtersOf('status=postponed&text=muster&sort=due&evil=1&vendor=')).toEqual({
    status: 'postponed',
    text: 'muster',
    sort: 'due',
  })
  expect(filtersOf('')).toEqual({ status: 'attention' })
})

test('a neighbour says which look-alike it follows, and none is none', () => {
  const found = { next: 'rev_2', next_below: 'doc_1', previous: 'rev_0', previous_below: null, place: 2, total: 3 }
  expect(nextOf(found)).toEqual({ reviewId: 'rev_2', below: 'doc_1' })
  expect(previousOf(found)).toEqual({ reviewId: 'rev_0' })
  expect(nextOf({ ...found, next: null, next_below: null })).toBeUndefined()
})
