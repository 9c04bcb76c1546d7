/** The outbox of the person who is signed in, and a hook for screens. */
import { useMemo, useState, useSyncExternalStore } from 'react'

import { type Draft, openOutbox, type Outbox, type Owner, type Place } from './outbox'

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

/**
 * A state of a dialog whose text survives a reload, until it is dropped. `initial`: where it begins; a draft that began
 * elsewhere is out of date.
 */
export function useKept<Value>(place: Place, initial: Value): [Value, (value: Value) => void, () => void] {
  const base = JSON.stringify(initial)
  const [value, setValue] = useState<Value>(() => {
    const found = drafts().find(place)
    return found?.base === base ? (found.value as Value) : initial
  })
  const keep = (next: Value) => {
    setValue(next)
    drafts().drop(place) // a draft keeps the base that it began with
    drafts().keep(place, next, base)
  }
  return [value, keep, () => drafts().drop(place)]
}

/** All drafts of a document. Follows changes, also of other tabs. */
export function useDrafts(document: string): Draft[] {
  const outbox = drafts()
  const text = useSyncExternalStore(outbox.subscribe, () => JSON.stringify(outbox.list(document)))
  return useMemo(() => JSON.parse(text) as Draft[], [text])
}
