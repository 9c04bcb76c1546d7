import { expect, test } from 'vitest'

import { parsed, roundsNumbers } from './parsed'

test('typed JSON is parsed, or the problem is said', () => {
  expect(parsed('{"a": 1}')).toEqual({ ok: true, value: { a: 1 } })
  expect(parsed('{"a": }').ok).toBe(false)
})

test('numbers that would be rounded are noticed', () => {
  expect(roundsNumbers('{"id": 12345678901234567890}')).toBe(true)
  expect(roundsNumbers('{"rate": 0.12345678901234567}')).toBe(true)
  expect(roundsNumbers('{"n": 1.50, "m": 100, "e": 1e3, "z": 0.0, "k": -2, "t": "12345678901234567890"}')).toBe(false)
})
