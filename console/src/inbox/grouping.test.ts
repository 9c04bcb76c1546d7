import { expect, test } from 'vitest'

import { grouped } from './grouping'
import type { Row } from './queries'

function row(document_id: string, look_alike_of: string | null = null): Row {
  return { document_id, look_alike_of } as Row
}

test('look-alikes stand below the first one of the list, which keeps its place', () => {
  const lines = grouped([row('b'), row('c', 'a'), row('e'), row('a'), row('d', 'a')])
  expect(lines.map(({ row: each, alike, isBelow }) => [each.document_id, alike, isBelow])).toEqual([
    ['b', 0, false],
    ['c', 2, false],
    ['a', 0, true],
    ['d', 0, true],
    ['e', 0, false],
  ])
})

test('look-alikes of a document in another tab are a group too', () => {
  const lines = grouped([row('c', 'gone'), row('d', 'gone')])
  expect(lines.map(({ row: each, isBelow }) => [each.document_id, isBelow])).toEqual([
    ['c', false],
    ['d', true],
  ])
})
