import { expect, test } from 'vitest'

import { answerOf, fieldsOf } from './fields'

const FORM = {
  type: 'object',
  required: ['approved'],
  properties: {
    approved: { type: 'boolean', title: 'Pay it' },
    comment: { type: 'string' },
    account: { type: 'string', enum: ['4200', '4300'] },
    amount: { type: 'number' },
    parts: { type: 'integer' },
    on: { type: 'string', format: 'date' },
    tags: { type: 'array', items: { type: 'string' } },
    more: { type: 'object', properties: { a: { type: 'string' } } },
  },
}

test('each property is a field of its kind, in the order of the form', () => {
  const found = fieldsOf(FORM).map(({ name, title, kind, isRequired }) => [name, title, kind, isRequired])
  expect(found).toEqual([
    ['approved', 'Pay it', 'choice', true],
    ['comment', 'Comment', 'long-text', false],
    ['account', 'Account', 'choice', false],
    ['amount', 'Amount', 'number', false],
    ['parts', 'Parts', 'whole-number', false],
    ['on', 'On', 'date', false],
    ['tags', 'Tags', 'list', false],
    ['more', 'More', 'json', false],
  ])
})

test('an answer has what was typed, with its types, and nothing for what was left empty', () => {
  const typed = {
    approved: 'false',
    comment: ' as ordered ',
    account: '"4200"',
    amount: '4904,95',
    parts: '3',
    on: '2014-04-12',
  }
  const { value, problems } = answerOf(fieldsOf(FORM), { ...typed, tags: 'a\n\nb', more: '{"a": "b"}' })
  expect(problems).toEqual({})
  expect(value).toEqual({
    approved: false,
    comment: 'as ordered',
    account: '4200',
    amount: 4904.95,
    parts: 3,
    on: '2014-04-12',
    tags: ['a', 'b'],
    more: { a: 'b' },
  })
  expect(answerOf(fieldsOf(FORM), { approved: 'true' }).value).toEqual({ approved: true })
})

test('what is not an answer yet is said at its field', () => {
  const typed = { amount: '1.234,5', parts: '1.5', more: '{' }
  expect(answerOf(fieldsOf(FORM), typed).problems).toEqual({
    approved: 'required',
    amount: 'number',
    parts: 'wholeNumber',
    more: 'json',
  })
})

test('a default is chosen at first, a truth value is not', () => {
  const [account, ok] = fieldsOf({
    properties: { account: { enum: ['a', 'b'], default: 'b' }, ok: { type: 'boolean' } },
  })
  expect([account?.initial, ok?.initial]).toEqual(['"b"', ''])
})

test('an answer without named fields is written as JSON', () => {
  const fields = fieldsOf({ type: 'array', items: { type: 'integer' } })
  expect(fields.map(({ kind }) => kind)).toEqual(['json'])
  expect(answerOf(fields, { '': '[1, 2]' }).value).toEqual([1, 2])
})
