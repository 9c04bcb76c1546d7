import { expect, test } from 'vitest'

import { changeableInputs, changedInputs, inputFields } from './inputs'

test('inputs become fields, with what is required and what is there at first', () => {
  const inputs = {
    supplier: { type: 'string', required: true, maxLength: 80 },
    sla_hours: { type: 'integer', default: 24, required: false },
    fresh: { type: 'boolean', default: false, required: false, description: 'read it again' },
  }
  const found = inputFields({ inputs, steps: [] })
  expect(found.map(({ name, kind, isRequired, initial }) => [name, kind, isRequired, initial])).toEqual([
    ['supplier', 'text', true, ''],
    ['sla_hours', 'whole-number', false, '24'],
    ['fresh', 'choice', false, 'false'],
  ])
})

test('a definition without inputs has no fields', () => {
  expect(inputFields({ steps: [] })).toEqual([])
})

test('what changes the inputs of a run begins with their values, and leaves out its document', () => {
  const inputs = {
    document_id: { type: 'string', required: true, maxLength: 80 },
    centre: { type: 'string', required: true, maxLength: 80 },
    sla_hours: { type: 'integer', default: 24, required: false },
    note: { type: 'string', default: 'none', required: false },
  }
  const fields = changeableInputs(
    { inputs, steps: [] },
    { document_id: 'doc_1', centre: '4711', sla_hours: 8, note: null },
  )
  expect(fields.map(({ name, isRequired, initial }) => [name, isRequired, initial])).toEqual([
    ['centre', true, '4711'],
    ['sla_hours', false, '8'],
    ['note', false, ''],
  ])
  expect(changedInputs(fields, {})).toEqual({ value: {}, problems: {} })
  expect(changedInputs(fields, { centre: '4711', sla_hours: '', note: 'new' }).value).toEqual({
    sla_hours: null,
    note: 'new',
  })
  expect(changedInputs(fields, { centre: ' ' }).problems).toEqual({ centre: 'required' })
})
