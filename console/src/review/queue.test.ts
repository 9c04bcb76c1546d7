import { expect, test } from 'vitest'

import { filtersOf, neighboursOf } from './queue'

test('a queue has the filters that lists know, by default what needs attention', () => {
  expect(filtersOf('status=postponed&text=muster&sort=due&evil=1&vendor=')).toEqual({
    status: 'postponed',
    text: 'muster',
    sort: 'due',
  })
  expect(filtersOf('')).toEqual({ status: 'attention' })
})

test('an item has its neighbours in the list', () => {
  expect(neighboursOf(['a', 'b', 'c'], 'b')).toEqual({ previous: 'a', next: 'c', place: 2, total: 3 })
  expect(neighboursOf(['a'], 'a')).toEqual({ previous: undefined, next: undefined, place: 1, total: 1 })
  expect(neighboursOf(['a'], 'b')).toBeUndefined()
})
