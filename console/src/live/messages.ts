/** What the server says while something changes: `GET /v1/events` (ADR 39). */

export const KINDS = ['document', 'review', 'run', 'failure', 'definition', 'export', 'batch'] as const
export type Kind = (typeof KINDS)[number]

/** An object has changed. `version` rises with each change of it. */
export type Change = { kind: Kind; id: string; version: number }

export type ServerEvent =
  | { name: 'hello'; version: string }
  | { name: 'change'; change: Change }
  | { name: 'resync' }
  | { name: 'heartbeat' }

/** Returns one event of the stream; undefined for an event of a later version of the server. */
export function eventOf(name: string, data: string): ServerEvent | undefined {
  const said: unknown = JSON.parse(data)
  switch (name) {
    case 'hello':
      return { name, version: String((said as { version?: unknown }).version ?? '') }
    case 'change':
      return isChange(said) ? { name, change: said } : undefined
    case 'resync':
    case 'heartbeat':
      return { name }
    default:
      return undefined
  }
}

function isChange(said: unknown): said is Change {
  const { kind, id } = said as Partial<Change>
  return typeof id === 'string' && KINDS.some((each) => each === kind)
}
