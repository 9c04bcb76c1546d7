import { expect, test } from 'vitest'

import { orderOf, usualStyle } from './order'
import { complete, readSearch } from './search'

const headings = { document: (name: string) => name.toUpperCase(), line: (name: string) => name }

test('CSV follows the locale', () => {
  expect(usualStyle('de-DE')).toEqual({ separator: ';', decimal: ',', bom: true })
  expect(usualStyle('en-GB')).toEqual({ separator: ',', decimal: '.', bom: true })
})

test('an address with nonsense means the usual export', () => {
  expect(complete(readSearch({ of: 1, since: 'x', columns: ['<b>'], format: 'pdf', bom: 'no' }))).toEqual(complete({}))
})

test('headings are for people, not for programs', () => {
  const search = complete({ columns: ['total'] })
  expect(orderOf(search, headings, 'en', 'UTC').columns).toEqual([{ name: 'total', heading: 'TOTAL' }])
  const hook = { ...search, format: 'webhook', url: 'https://a.example' } as const
  expect(orderOf(hook, headings, 'en', 'UTC').columns).toEqual([{ name: 'total', heading: null }])
})

test('a style in the address overrides that of the locale', () => {
  const search = complete({ format: 'csv', separator: 'tab', bom: false })
  expect(orderOf(search, headings, 'de-DE', 'UTC').to).toEqual({
    format: 'csv',
    separator: '\t',
    decimal: ',',
    bom: false,
  })
})
