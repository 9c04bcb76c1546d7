import { describe, expect, test } from 'vitest'

import { around, turnedBox, turnedSize, whole, wordAt, wordsBetween, zoomed } from './geometry'
import type { Box, PlacedWord } from './model'

const page = { width: 600, height: 800 }
const frame = { width: 700, height: 500 }
const box: Box = [0.1, 0.2, 0.3, 0.25]

test('four turns bring a box back', () => {
  const quarter = turnedBox(box, 90)
  expect(quarter).toEqual([0.75, 0.1, 0.8, 0.3])
  expect(turnedBox(turnedBox(quarter, 90), 180)).toEqual(box.map((edge) => expect.closeTo(edge)))
  expect(turnedBox(turnedBox(box, 270), 90)).toEqual(box.map((edge) => expect.closeTo(edge)))
  expect(turnedSize(page, 270)).toEqual({ width: 800, height: 600 })
})

describe('poses', () => {
  test('a whole page is in its frame', () => {
    const { scale, x, y } = whole(page, frame)
    expect(y).toBeGreaterThanOrEqual(16)
    expect(y + 800 * scale).toBeLessThanOrEqual(500 - 16)
    expect(x + (600 * scale) / 2).toBeCloseTo(350)
  })
  test('a box is in the middle of the frame, and larger than on the whole page', () => {
    const middle: Box = [0.4, 0.5, 0.6, 0.52]
    const { scale, x, y } = around(middle, page, frame)
    expect(scale).toBeGreaterThan(whole(page, frame).scale)
    expect([x + 0.5 * 600 * scale, y + 0.51 * 800 * scale]).toEqual([expect.closeTo(350), expect.closeTo(250)])
  })
  test('the point under the pointer stays when the page is zoomed', () => {
    const before = around([0.4, 0.5, 0.6, 0.52], page, frame)
    const after = zoomed(before, 1.5, 300, 200, page, frame)
    expect((300 - after.x) / after.scale).toBeCloseTo((300 - before.x) / before.scale)
  })
})

describe('words', () => {
  const words: PlacedWord[] = [
    { text: 'Total', box: [0.1, 0.1, 0.2, 0.12] },
    { text: '119,00', box: [0.22, 0.1, 0.3, 0.12] },
    { text: 'EUR', box: [0.31, 0.1, 0.35, 0.12] },
  ]
  test('the nearest word to a point is found, none far from all', () => {
    expect([wordAt(words, 0.25, 0.11), wordAt(words, 0.304, 0.11), wordAt(words, 0.5, 0.5)]).toEqual([1, 1, undefined])
  })
  test('words in a row are one text with one place, from either end', () => {
    const found = { text: '119,00 EUR', box: [0.22, 0.1, 0.35, 0.12] }
    expect([wordsBetween(words, 1, 2), wordsBetween(words, 2, 1)]).toEqual([found, found])
  })
})
