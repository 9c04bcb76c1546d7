/** Makes cached answers stale when the server says that something has changed: what is shown is read again, nothing else. */
import type { QueryClient, QueryKey } from '@tanstack/react-query'

import { keys } from '@/api/keys'

import type { Change, Kind } from './messages'

/** A burst of events, for example of a bulk approval, causes one refetch of a list, not one for each event. */
export const BURST_MS = 200

/** The answers that an event makes stale. A document's row shows its review, its run and its export too. */
const STALE: Record<Kind, (id: string) => QueryKey[]> = {
  document: (id) => [keys.documents.one(id), ...lists('documents')],
  review: (id) => [keys.reviews.one(id), ...lists('reviews'), ...lists('documents')],
  run: (id) => [keys.runs.one(id), ...lists('runs')],
  failure: () => [keys.failures.all, ...lists('documents')],
  definition: (id) => [keys.definitions.one(id), ...lists('definitions')],
  export: () => [keys.exports.all, ...lists('documents')],
  batch: (id) => [keys.batches.one(id), ...lists('batches')],
}

export type Staleness = { add: (change: Change) => void; all: () => void }

/** Returns where to report changes. Answers that no component uses at present are not read again, only marked. */
export function staleness(client: QueryClient): Staleness {
  const waiting = new Map<string, QueryKey>()
  let timer: ReturnType<typeof setTimeout> | undefined

  function flush(): void {
    timer = undefined
    const found = [...waiting.values()]
    waiting.clear()
    for (const queryKey of found) void client.invalidateQueries({ queryKey }) // also cancels what was asked before the change
  }

  return {
    add({ kind, id }) {
      for (const key of STALE[kind](id)) waiting.set(JSON.stringify(key), key)
      timer ??= setTimeout(flush, BURST_MS)
    },
    all() {
      waiting.clear()
      void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== keys.me[0] })
    },
  }
}

function lists(name: 'batches' | 'documents' | 'reviews' | 'runs' | 'definitions'): QueryKey[] {
  return [
    [name, 'list'],
    [name, 'counts'],
  ]
}
