import { expect, test } from 'vitest'

import { monthOf } from './periods'

test('a month begins where its zone says', () => {
  const midnight = new Date('2026-12-31T23:30:00Z')
  expect(monthOf('UTC', 0, midnight)).toEqual({ since: '2026-12-01', until: '2026-12-31' })
  expect(monthOf('Europe/Berlin', 0, midnight)).toEqual({ since: '2027-01-01', until: '2027-01-31' })
  expect(monthOf('Europe/Berlin', -1, midnight)).toEqual({ since: '2026-12-01', until: '2026-12-31' })
})
