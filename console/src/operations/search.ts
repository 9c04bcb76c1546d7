/** What the URL of the operations says: filters of its parts. */

export type OperationsSearch = {
  /** Of the quotas: whose. */
  tenant?: string
  /** Of the audit log. */
  actor?: string
  act?: string
  subject?: string
}

const NAMES = ['tenant', 'actor', 'act', 'subject']

export function operationsSearch(raw: Record<string, unknown>): OperationsSearch {
  const found = Object.entries(raw).filter(
    ([name, value]) => NAMES.includes(name) && typeof value === 'string' && value !== '',
  )
  return Object.fromEntries(found) as OperationsSearch
}
