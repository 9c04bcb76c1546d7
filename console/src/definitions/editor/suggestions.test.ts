/* oxlint-disable unicorn/no-thenable -- a word of JSON Schema */
import { expect, test } from 'vitest'

import { meaning, type Schema, suggestions } from './suggestions'

const SCHEMA: Schema = {
  if: { type: 'array' },
  then: { items: { $ref: '#/$defs/Step' } },
  else: { $ref: '#/$defs/Definition' },
  $defs: {
    Definition: {
      type: 'object',
      properties: {
        title: { type: 'string', description: 'For people.' },
        steps: { type: 'array', items: { $ref: '#/$defs/Step' } },
      },
    },
    Step: {
      properties: {
        id: { type: 'string' },
        handler: { enum: ['echo', 'fail'] },
        optional: { description: 'May fail.', type: 'boolean' },
        trigger_rule: { anyOf: [{ $ref: '#/$defs/Rule' }] },
        config: { type: 'object' },
      },
      allOf: [
        {
          if: { properties: { handler: { enum: ['echo'] } } },
          then: { properties: { config: { $ref: '#/$defs/config.echo' } } },
        },
        { if: { properties: { handler: { enum: ['fail'] } } }, then: { properties: { config: { properties: {} } } } },
      ],
    },
    Rule: { enum: ['all_done', 'one_failed'] },
    'config.echo': { properties: { value: { description: 'What it returns.' } } },
  },
}
const SUMMARIES = { echo: 'Returns its value.', fail: 'Fails.' }

function labels(marked: string): string[] {
  return suggestions(SCHEMA, SUMMARIES, marked.replace('|', ''), marked.indexOf('|')).map((each) => each.label)
}

test('the fields of a definition and of a step', () => {
  expect(labels('|')).toEqual(['title', 'steps'])
  expect(labels('steps:\n  - |')).toEqual(['id', 'handler', 'optional', 'trigger_rule', 'config'])
})

test('the values of a field', () => {
  expect(labels('steps:\n  - trigger_rule: |')).toEqual(['all_done', 'one_failed'])
  expect(labels('steps:\n  - optional: |')).toEqual(['true', 'false'])
  expect(labels('steps:\n  - handler: |')).toEqual(['echo', 'fail'])
  expect(labels('steps:\n  - id: a\n  - id: b\n    depends_on: [|')).toEqual(['a', 'b'])
})

test('a config has the fields of its handler', () => {
  expect(labels('steps:\n  - handler: echo\n    config:\n      |')).toEqual(['value'])
  expect(labels('steps:\n  - handler: fail\n    config:\n      |')).toEqual([])
})

test('what a key or a handler means', () => {
  const text = 'steps:\n  - handler: echo\n    optional: true\n'
  const meant = (word: string) =>
    meaning(SCHEMA, SUMMARIES, text, { from: text.indexOf(word), to: text.indexOf(word) + word.length })
  expect([meant('optional'), meant('echo'), meant('true')]).toEqual(['May fail.', 'Returns its value.', undefined])
})
