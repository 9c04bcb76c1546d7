import { EditorState, Text } from '@codemirror/state'
import { expect, test } from 'vitest'

import { nextProblem, type Problem, rangeOf } from './problems'

const problem = (line: number | null, column: number | null): Problem => ({
  code: 'x',
  message: 'wrong',
  path: '$',
  line,
  column,
  suggestion: null,
  severity: 'error',
})

/** The text that is underlined. */
function underlined(line: string, column: number): string {
  const range = rangeOf(Text.of([line]), problem(1, column))
  return range ? line.slice(range.from, range.to) : ''
}

test('a problem underlines the word or the quoted text at its place', () => {
  expect(underlined('  handler: extract_invoce', 12)).toBe('extract_invoce')
  expect(underlined('  seconds: soon or later # why', 12)).toBe('soon or later')
  expect(underlined('  value: "{{ a.b }}", x', 10)).toBe('"{{ a.b }}"')
  expect(underlined('  handlr: x', 3)).toBe('handlr')
})

test('columns count characters, also those outside the basic plane', () => {
  expect(underlined('{a: "𝒳𝒳", b: wrong}', 14)).toBe('wrong')
})

test('a problem at the end of a line underlines its last character', () => {
  expect(underlined('id:', 9)).toBe(':')
})

test('a problem without a place is nowhere in the text', () => {
  expect(rangeOf(Text.of(['a']), problem(null, null))).toBeUndefined()
  expect(rangeOf(Text.of(['a']), problem(7, 1))).toBeUndefined()
})

test('the next problem is after the cursor, and the first one follows the last', () => {
  const problems = [problem(3, 1), problem(1, 2)]
  const state = (at: number) => EditorState.create({ doc: 'abc\ndef\nghi', selection: { anchor: at } })
  expect(nextProblem(state(0), problems, 1)?.line).toBe(1)
  expect(nextProblem(state(1), problems, 1)?.line).toBe(3)
  expect(nextProblem(state(8), problems, 1)?.line).toBe(1)
  expect(nextProblem(state(8), problems, -1)?.line).toBe(1)
  expect(nextProblem(state(0), [], 1)).toBeUndefined()
})
