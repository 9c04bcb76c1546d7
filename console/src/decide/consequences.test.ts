import { expect, test } from 'vitest'

import { consequencesOf, stepsOf, timeoutOf } from './consequences'
import type { Json } from './fields'

const BODY: Json = {
  steps: [
    { id: 'ask', human: { form: {}, on_timeout: JSON.parse('{"escalate_to": "managers", "then": "abort"}') as Json } },
    { id: 'pay', handler: 'echo', title: 'Pay', depends_on: ['ask'], condition: 'ask.approved' },
    { id: 'refuse', abort: { reason: 'no' }, depends_on: ['ask'], condition: 'not ask.approved' },
    { id: 'book', handler: 'echo', depends_on: ['ask'], condition: 'ask.account == "4200"' },
    { id: 'large', handler: 'echo', depends_on: ['ask'], condition: 'ask.approved and inputs.amount > 5' },
    { id: 'always', handler: 'echo', depends_on: ['ask'] },
    { id: 'later', handler: 'echo', depends_on: ['pay'] },
  ],
}

function fates(answer: Json): Record<string, string> {
  const found = consequencesOf(stepsOf(BODY), 'ask', answer)
  return Object.fromEntries(found.map(({ step, fate }) => [step.id, fate]))
}

test('before anything is chosen what depends on it is open', () => {
  expect(fates({})).toEqual({ pay: 'open', refuse: 'open', book: 'open', large: 'unknown', always: 'runs' })
})

test('an answer decides the steps whose condition it is', () => {
  expect(fates({ approved: true, account: '4300' })).toMatchObject({ pay: 'runs', refuse: 'skipped', book: 'skipped' })
  expect(fates({ approved: false, account: '4200' })).toMatchObject({ pay: 'skipped', refuse: 'runs', book: 'runs' })
})

test('what happens without an answer is read from the step', () => {
  expect(timeoutOf(BODY, 'ask')).toEqual({ outcome: 'abort', escalateTo: 'managers' })
  expect(timeoutOf(BODY, 'pay')).toBeUndefined()
})
