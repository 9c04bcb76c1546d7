import { expect, test } from 'vitest'

import { comparedWith } from './compared'

const versions = [3, 2, 1].map((version) => ({ version }))
const aliases = { stable: { version: 2, percent: null } }

test('a version is compared with what new runs get', () => {
  expect(comparedWith(3, undefined, aliases, versions)).toBe(2)
  expect(comparedWith(1, undefined, aliases, versions)).toBe(2)
})

test('what new runs get is compared with the version before it, or else with the one after', () => {
  expect(comparedWith(2, undefined, aliases, versions)).toBe(1)
  expect(comparedWith(1, undefined, { stable: { version: 1, percent: null } }, versions)).toBe(2)
})

test('the chosen version counts, except for itself', () => {
  expect(comparedWith(3, 1, aliases, versions)).toBe(1)
  expect(comparedWith(3, 3, aliases, versions)).toBe(2)
})

test('a single version is compared with none', () => {
  expect(comparedWith(1, undefined, { stable: { version: 1, percent: null } }, [{ version: 1 }])).toBeUndefined()
})
