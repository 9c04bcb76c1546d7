import { expect, test } from 'vitest'

import { filtersOf } from './queue'

test('a queue has the filters that lists know, by default what needs attention', () => {
  expect(filtersOf('status=postponed&text=muster&sort=due&evil=1&vendor=')).toEqual({
    status: 'postponed',
    text: 'muster',
    sort: 'due',
  })
  expect(filtersOf('')).toEqual({ status: 'attention' })
})
