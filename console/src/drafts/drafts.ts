/** The outbox of the person who is signed in, and a hook for screens. */
import { useMemo, useSyncExternalStore } from 'react'

import { type Draft, openOutbox, type Outbox, type Owner } from './outbox'

let owner: Owner | undefined
let opened: Outbox | undefined

/** Opens the outbox of the person who has signed in. */
export function openDrafts(person: Owner): Outbox {
  if (opened && owner?.name === person.name && owner.tenant === person.tenant) return opened
  opened?.close()
  owner = person
  opened = openOutbox(localStorage, person)
  return opened
}

/** The outbox. Below the shell it is open. */
export function drafts(): Outbox {
  if (!opened) throw new Error('no one is signed in')
  return opened
}

/** All drafts of a document. Follows changes, also of other tabs. */
export function useDrafts(document: string): Draft[] {
  const outbox = drafts()
  const text = useSyncExternalStore(outbox.subscribe, () => JSON.stringify(outbox.list(document)))
  return useMemo(() => JSON.parse(text) as Draft[], [text])
}
