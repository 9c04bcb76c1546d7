import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { type Draft, openOutbox, type Refusal, RETRY_MS, type Sender } from './outbox'

const ANN = { tenant: 'acme', name: 'ann' }
const TOTAL = { document: 'doc_1', field: 'total' }

beforeEach(() => {
  localStorage.clear()
  vi.useFakeTimers()
})
afterEach(() => vi.useRealTimers())

const takes: Sender = () => Promise.resolve(null)
const isDown: Sender = () => Promise.reject(new Error('no answer'))

test('what is typed survives a reload before the field is left', () => {
  openOutbox(localStorage, ANN, takes).keep(TOTAL, '12,50', 'v1')
  const found = openOutbox(localStorage, ANN, takes).find(TOTAL)
  expect(found).toMatchObject({ value: '12,50', base: 'v1', isReady: false })
})

test('a field is sent when it is left, and then forgotten', async () => {
  const sent: Draft[] = []
  const outbox = openOutbox(localStorage, ANN, (draft) => {
    sent.push(draft)
    return Promise.resolve(null)
  })
  outbox.keep(TOTAL, '1', 'v1')
  outbox.keep(TOTAL, '12', 'v2') // the server's version changed while the person typed
  await outbox.leave(TOTAL)
  expect(sent.map(({ value, base }) => [value, base])).toEqual([['12', 'v1']])
  expect(outbox.list()).toEqual([])
})

test('what a server that is down did not take is sent once it answers, also after a reload', async () => {
  const outbox = openOutbox(localStorage, ANN, isDown)
  outbox.keep(TOTAL, '12', 'v1')
  await outbox.leave(TOTAL)
  expect(outbox.find(TOTAL)?.isReady).toBe(true)
  outbox.close()
  const sender = vi.fn<Sender>().mockRejectedValueOnce(new Error('no answer')).mockResolvedValue(null)
  const reloaded = openOutbox(localStorage, ANN, sender)
  await reloaded.flush()
  expect(reloaded.list()).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(RETRY_MS)
  expect(reloaded.list()).toEqual([])
})

test('a conflict keeps what was typed, and what the other person wrote', async () => {
  const refusal: Refusal = { kind: 'conflict', theirs: '99' }
  const sender = vi.fn<Sender>().mockResolvedValue(refusal)
  const outbox = openOutbox(localStorage, ANN, sender)
  outbox.keep(TOTAL, '12', 'v1')
  await outbox.leave(TOTAL)
  expect(outbox.find(TOTAL)).toMatchObject({ value: '12', refused: refusal, isReady: false })
  await outbox.flush()
  expect(sender).toHaveBeenCalledOnce() // a person decides, not a timer
})

test('what is typed while a draft is sent is not lost', async () => {
  const answers = Promise.withResolvers<null>()
  const outbox = openOutbox(localStorage, ANN, () => answers.promise)
  outbox.keep(TOTAL, '12', 'v1')
  const leaving = outbox.leave(TOTAL)
  outbox.keep(TOTAL, '123', 'v1')
  answers.resolve(null)
  await leaving
  expect(outbox.find(TOTAL)).toMatchObject({ value: '123', isReady: false })
})

test('another person and another tenant have drafts of their own', () => {
  const ann = openOutbox(localStorage, ANN, takes)
  const bob = openOutbox(localStorage, { tenant: 'acme', name: 'bob' }, takes)
  const elsewhere = openOutbox(localStorage, { tenant: 'globex', name: 'ann' }, takes)
  ann.keep(TOTAL, '12', null)
  bob.keep(TOTAL, '34', null)
  expect(elsewhere.list()).toEqual([])
  ann.clear()
  expect([ann.list(), bob.list().map(({ value }) => value)]).toEqual([[], ['34']])
})

test('names with any characters stay apart', () => {
  const one = openOutbox(localStorage, { tenant: 'a/b', name: 'c' }, takes)
  const other = openOutbox(localStorage, { tenant: 'a', name: 'b/c' }, takes)
  one.keep({ document: 'x/y', field: 'z' }, 1, null)
  expect(one.find({ document: 'x', field: 'y/z' })).toBeUndefined()
  expect(other.list()).toEqual([])
})
