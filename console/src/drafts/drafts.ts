/** The outbox of the person who is signed in, and a hook for fields. Each screen says how its fields are sent. */
import { useMemo, useSyncExternalStore } from 'react'

import { type Draft, openOutbox, type Outbox, type Owner, type Place, type Sender } from './outbox'

const senders = new Map<string, Sender>()
let owner: Owner | undefined
let opened: Outbox | undefined

/** Says how drafts of a kind are sent. The kind is the word before the colon of a field: `field:total`. */
export function sendDrafts(kind: string, sender: Sender): void {
  senders.set(kind, sender)
  void opened?.flush() // of this kind some may wait since before a reload
}

/** Opens the outbox of the person who has signed in. */
export function openDrafts(person: Owner): Outbox {
  if (opened && owner?.name === person.name && owner.tenant === person.tenant) return opened
  opened?.close()
  owner = person
  opened = openOutbox(localStorage, person, send)
  return opened
}

/** The outbox. Below the shell it is open. */
export function drafts(): Outbox {
  if (!opened) throw new Error('no one is signed in')
  return opened
}

/** A kind without a sender waits until the screen that knows it is loaded. */
async function send(draft: Draft) {
  const sender = senders.get(draft.field.split(':')[0] ?? '')
  if (!sender) throw new Error(`no screen has said how ${draft.field} is sent`)
  return sender(draft)
}

/** What is typed into a place and not yet saved; undefined: nothing. Follows changes, also of other tabs. */
export function useDraft({ document, field }: Place): Draft | undefined {
  const outbox = drafts()
  const text = useSyncExternalStore(outbox.subscribe, () => JSON.stringify(outbox.find({ document, field }) ?? null))
  return useMemo(() => (JSON.parse(text) as Draft | null) ?? undefined, [text])
}

/** All drafts of a document. */
export function useDrafts(document: string): Draft[] {
  const outbox = drafts()
  const text = useSyncExternalStore(outbox.subscribe, () => JSON.stringify(outbox.list(document)))
  return useMemo(() => JSON.parse(text) as Draft[], [text])
}
