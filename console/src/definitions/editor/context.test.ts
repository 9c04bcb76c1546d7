import { expect, test } from 'vitest'

import { contextAt, handlerAt, stepIds } from './context'

/** The context at the mark `|`. */
function at(marked: string) {
  return contextAt(marked.replace('|', ''), marked.indexOf('|'))
}

test('a key at the top has no keys above it', () => {
  expect(at('dsl: 1\nti|')).toEqual({ path: [], key: undefined, typed: 'ti' })
})

test('a field of a step is below its list, however far the list is indented', () => {
  for (const indent of ['', '  '])
    for (const line of ['- ha|', '- id: b\n'.concat(indent, '  ha|')]) {
      const text = `steps:\n${indent}- id: a\n${indent}  handler: echo\n${indent}${line}`
      expect(at(text)).toEqual({ path: ['steps', '[]'], key: undefined, typed: 'ha' })
    }
})

test('a value is below its key', () => {
  expect(at('steps:\n  - id: a\n    handler: ec|')).toEqual({ path: ['steps', '[]'], key: 'handler', typed: 'ec' })
})

test('nested keys and comments', () => {
  const text = 'steps:\n  - id: a\n    config:\n      # why\n\n      va|'
  expect(at(text)).toEqual({ path: ['steps', '[]', 'config'], key: undefined, typed: 'va' })
})

test('inside brackets', () => {
  expect(at('steps:\n  - {id: a, han|')).toEqual({ path: ['steps', '[]'], key: undefined, typed: 'han' })
  expect(at('steps:\n  - {id: "a, {", config: {url: |')).toEqual({
    path: ['steps', '[]', 'config'],
    key: 'url',
    typed: '',
  })
  expect(at('steps:\n  - id: a\n    depends_on: [b, c|')).toEqual({
    path: ['steps', '[]', 'depends_on', '[]'],
    key: undefined,
    typed: 'c',
  })
})

test('brackets that are closed are left', () => {
  expect(at('steps:\n  - {id: a, retry_config: {jitter: 1}, ha|').path).toEqual(['steps', '[]'])
})

test('the handler of the step around the cursor', () => {
  const text = 'steps:\n  - id: a\n    handler: one\n  - id: b\n    config:\n      |\n    handler: two\n'
  expect(handlerAt(text.replace('|', ''), text.indexOf('|'))).toBe('two')
  expect(handlerAt('steps:\n  - {id: a, handler: one, config: {', 38)).toBe('one')
})

test('the ids of all steps', () => {
  expect(stepIds('id: x\nsteps:\n  - id: a\n  - {handler: b, id: c}\n    id: d\n')).toEqual(['a', 'c'])
})
