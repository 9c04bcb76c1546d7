import { describe, expect, test } from 'vitest'

import {
  certaintyOf,
  changedFields,
  type Field,
  type Fields,
  groupsOf,
  newProblems,
  nextDoubt,
  otherValues,
} from './model'

function field(name: string, value: string | null, more: Partial<Field> = {}): Field {
  const plain = { page: null, box: null, evidence: [], explanation: [], lock: null, candidates: [], proposals: [] }
  return { name, value, confidence: value === null ? null : 0.99, source: 'text_label', ...plain, ...more }
}

function document(fields: Field[], problems: Fields['problems'] = []): Fields {
  return { fields, problems, lines_version: 'a', line_items: [] } as unknown as Fields
}

const problem = (code: string, name: string | null) => ({
  code,
  severity: 'error' as const,
  message: code,
  field: name,
  page: null,
  box: null,
})
const lock = { by: 'ann', at: '2026-11-23T18:00:00Z', why: '' }

describe('groups', () => {
  const fields = [
    field('invoice_number', 'R1'),
    field('date', null),
    field('due_date', null),
    field('vendor_name', 'Muster', { confidence: 0.5 }),
    field('iban', 'DE02', { confidence: 0.99 }),
    field('total', '119.00'),
  ]
  test('have the fields of problems first, then missing and unsure ones', () => {
    const groups = groupsOf(
      document(fields, [problem('iban_checksum', 'iban'), problem('lines_disagree', 'line_items')]),
    )
    expect(groups).toEqual({
      doubts: ['iban', 'date', 'vendor_name'],
      sure: ['invoice_number', 'total'],
      rest: ['due_date'],
    })
  })
  test('have no doubt about what a person has confirmed', () => {
    expect(groupsOf(document([field('vendor_name', 'Muster', { confidence: 0.5, lock })])).doubts).toEqual([])
  })
  test('lead from doubt to doubt, and then nowhere', () => {
    const groups = { doubts: ['date', 'total'], sure: [], rest: [] }
    expect([undefined, 'date', 'total', 'iban'].map((name) => nextDoubt(groups, name))).toEqual([
      'date',
      'total',
      undefined,
      'date',
    ])
  })
})

test('a confidence that is not known is a state of its own', () => {
  const found = [null, 0.3, 0.7, 0.9].map((confidence) =>
    certaintyOf(field('total', confidence === null ? null : '1', { confidence })),
  )
  expect(found).toEqual(['unknown', 'low', 'medium', 'high'])
  expect(certaintyOf(field('total', '1', { lock }))).toBe('confirmed')
})

test('other values are listed once, without the own one', () => {
  const candidates = ['119.00', '200.00', '200.00', null].map((value) => ({ value, source: 'xml', page: 1, box: null }))
  expect(otherValues(field('total', '119.00', { candidates })).map((each) => each.value)).toEqual(['200.00'])
})

test('of a type of document every other one can be chosen, those that were read first', () => {
  const candidates = [{ value: 'quote', source: 'text_label', page: 1, box: null }]
  const values = otherValues(field('document_type', 'invoice', { candidates })).map((each) => each.value)
  expect(values.slice(0, 2)).toEqual(['quote', 'credit_note'])
  expect([values.length, values.includes('invoice')]).toEqual([9, false])
})

test('what changed between two states is named', () => {
  const before = document(
    [field('total', '1'), field('iban', 'DE02'), field('date', '2026-01-01')],
    [problem('a', 'total')],
  )
  const after = {
    ...document(
      [field('total', '2'), field('iban', 'DE02', { lock }), field('date', '2026-01-01')],
      [problem('b', null)],
    ),
    lines_version: 'b',
  }
  expect(changedFields(before, after)).toEqual(['total', 'iban', 'line_items'])
  expect(newProblems(before, after).map((each) => each.code)).toEqual(['b'])
  const twice = document([], [problem('a', 'total'), problem('a', 'total')])
  expect(newProblems(before, twice)).toHaveLength(1)
})
