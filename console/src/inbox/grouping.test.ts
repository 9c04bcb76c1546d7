import { expect, test } from 'vitest'

import { grouped } from './grouping'
import type { Row } from './queries'

function row(document_id: string, look_alike_of: string | null = null): Row {
  return { document_id, look_alike_of } as Row
}

test('look-alikes stand below the document that they look like, the others keep their order', () => {
  const lines = grouped([row('c', 'a'), row('b'), row('a'), row('d', 'a')])
  expect(lines.map(({ row: each, alike, isBelow }) => [each.document_id, alike, isBelow])).toEqual([
    ['a', 2, false],
    ['c', 0, true],
    ['d', 0, true],
    ['b', 0, false],
  ])
})

test('without the earliest document, the first of the list leads its group', () => {
  const lines = grouped([row('c', 'gone'), row('d', 'gone')])
  expect(lines.map(({ row: each, isBelow }) => [each.document_id, isBelow])).toEqual([
    ['c', false],
    ['d', true],
  ])
})
