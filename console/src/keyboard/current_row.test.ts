import { expect, test } from 'vitest'

import { moved, placeOf } from './current_row'

test('the current row stays the same when others come before it', () => {
  expect(placeOf({ id: 'b', index: 1 }, ['new', 'a', 'b'])).toBe(2)
})

test('when the current row has left, the one that took its place is current, or else the last', () => {
  expect(placeOf({ id: 'b', index: 1 }, ['a', 'c'])).toBe(1)
  expect(placeOf({ id: 'c', index: 2 }, ['a'])).toBe(0)
  expect(placeOf({ id: 'c', index: 2 }, [])).toBe(-1)
})

test('a move ends at the first and the last row', () => {
  const ids = ['a', 'b', 'c']
  expect(moved(0, 1, ids)).toEqual({ id: 'b', index: 1 })
  expect(moved(0, -1, ids)).toEqual({ id: 'a', index: 0 })
  expect(moved(1, Infinity, ids)).toEqual({ id: 'c', index: 2 })
  expect(moved(0, 1, [])).toBeUndefined()
})
