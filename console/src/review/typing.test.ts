import { expect, test } from 'vitest'

import { typedText } from './typing'

test('an amount stands in its field as the person writes it, without groups', () => {
  expect(typedText('total', '4904.95', 'de-DE')).toBe('4904,95')
  expect(typedText('total', '4904.95', 'en-US')).toBe('4904.95')
  expect(typedText('total', '1000000.00', 'de-DE')).toBe('1000000,00')
})

test('an amount with three decimals cannot be taken for thousands', () => {
  expect(typedText('total', '1.234', 'en-US')).toBe('1.2340')
  expect(typedText('total', '0.125', 'de-DE')).toBe('0,125')
})

test('a date has its month in words where day and month could be swapped', () => {
  expect(typedText('date', '2014-04-12', 'de-DE')).toBe('12.04.2014')
  expect(typedText('date', '2014-04-12', 'en-US')).toBe('12 Apr 2014')
  expect(typedText('date', '2014-04-12', 'en-GB')).toBe('12 Apr 2014')
})

test('a type of document is written in words, which the server reads back', () => {
  expect(typedText('document_type', 'credit_note')).toBe('credit note')
})

test('what is not a value of its kind stays as it is', () => {
  expect([typedText('total', null), typedText('total', '<b>'), typedText('vendor_name', '1.5', 'de-DE')]).toEqual([
    '',
    '<b>',
    '1.5',
  ])
})
