import { expect, test } from 'vitest'

import type { Model } from '@/api/client'

import { SERVICES, troubleOf } from './health'

const WELL = Object.fromEntries(SERVICES.map((service) => [service, 'ok'])) as unknown as Model<'Readiness'>

test('each service that does not answer is named, the most important one first', () => {
  expect(troubleOf(WELL, false)).toBeUndefined()
  for (const service of SERVICES) expect(troubleOf({ ...WELL, [service]: 'refused' }, false)).toBe(service)
  expect(troubleOf({ ...WELL, worker: 'none', postgresql: 'refused' }, false)).toBe('postgresql')
})

test('a server that does not answer comes before all', () => {
  expect(troubleOf({ ...WELL, temporal: 'refused' }, true)).toBe('server')
  expect(troubleOf(undefined, false)).toBeUndefined()
})
