/**
 * The keys of cached answers, by noun: `keys.runs.list(filters)`, `keys.runs.one(id, 'steps')`. An event about a noun
 * makes everything below `keys.runs.all` stale, or below `keys.runs.one(id)`.
 */

function noun<const Name extends string>(name: Name) {
  return {
    all: [name] as const,
    list: (filters: object = {}) => [name, 'list', filters] as const,
    counts: (filters: object = {}) => [name, 'counts', filters] as const,
    one: (id: string, ...part: (string | number | object)[]) => [name, 'one', id, ...part] as const,
  }
}

export const keys = {
  me: ['me'] as const,
  signInMethods: ['sign-in-methods'] as const,
  audit: noun('audit'),
  batches: noun('batches'),
  definitions: noun('definitions'),
  documents: noun('documents'),
  exports: noun('exports'),
  failures: noun('failures'),
  handlers: noun('handlers'),
  keys: noun('keys'),
  limits: noun('limits'),
  quotas: noun('quotas'),
  reviews: noun('reviews'),
  runs: noun('runs'),
  schedules: noun('schedules'),
  sessions: noun('sessions'),
  tenants: noun('tenants'),
  triggers: noun('triggers'),
  usage: noun('usage'),
  workers: noun('workers'),
}
