import { beforeEach, expect, test } from 'vitest'

import { openOutbox } from './outbox'

const ANN = { tenant: 'acme', name: 'ann' }
const TOTAL = { document: 'doc_1', field: 'total' }

beforeEach(() => localStorage.clear())

test('what is typed survives a reload before the field is left', () => {
  openOutbox(localStorage, ANN).keep(TOTAL, '12,50', 'v1')
  const found = openOutbox(localStorage, ANN).find(TOTAL)
  expect(found).toMatchObject({ value: '12,50', base: 'v1', isLeft: false })
})

test('a field that is left keeps the base that its person began with, until it is typed into again', () => {
  const outbox = openOutbox(localStorage, ANN)
  outbox.keep(TOTAL, '1', 'v1')
  outbox.keep(TOTAL, '12', 'v2', true) // the server's version changed while the person typed
  expect(outbox.find(TOTAL)).toMatchObject({ value: '12', base: 'v1', isLeft: true })
  outbox.keep(TOTAL, '123', 'v2')
  expect(outbox.find(TOTAL)).toMatchObject({ value: '123', isLeft: false })
})

test('another person and another tenant have drafts of their own', () => {
  const ann = openOutbox(localStorage, ANN)
  const bob = openOutbox(localStorage, { tenant: 'acme', name: 'bob' })
  const elsewhere = openOutbox(localStorage, { tenant: 'globex', name: 'ann' })
  ann.keep(TOTAL, '12', null)
  bob.keep(TOTAL, '34', null)
  expect(elsewhere.list()).toEqual([])
  ann.clear()
  expect([ann.list(), bob.list().map(({ value }) => value)]).toEqual([[], ['34']])
})

test('names with any characters stay apart', () => {
  const one = openOutbox(localStorage, { tenant: 'a/b', name: 'c' })
  const other = openOutbox(localStorage, { tenant: 'a', name: 'b/c' })
  one.keep({ document: 'x/y', field: 'z' }, 1, null)
  expect(one.find({ document: 'x', field: 'y/z' })).toBeUndefined()
  expect(other.list()).toEqual([])
})
