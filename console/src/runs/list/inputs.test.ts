import { expect, test } from 'vitest'

import { changeableInputs, inputFields } from './inputs'

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

test('what changes the inputs of a run begins empty, requires nothing, and leaves out its document', () => {
  const inputs = {
    document_id: { type: 'string', required: true, maxLength: 80 },
    centre: { type: 'string', required: true, maxLength: 80 },
    sla_hours: { type: 'integer', default: 24, required: false },
  }
  const found = changeableInputs({ inputs, steps: [] })
  expect(found.map(({ name, isRequired, initial }) => [name, isRequired, initial])).toEqual([
    ['centre', false, ''],
    ['sla_hours', false, ''],
  ])
})
