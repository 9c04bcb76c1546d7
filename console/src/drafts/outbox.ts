/**
 * What people have typed and the server does not have yet. A draft is kept outside of components, in local storage, under
 * its person, tenant, document and field: it survives a reload, a crash, navigation and the end of the session. The screen
 * that shows the field sends it, and drops it with the answer; at sign-out all go.
 */

export type Owner = { tenant: string; name: string }

/** Where a draft belongs: a document or another object, and a field of it. */
export type Place = { document: string; field: string }

export type Draft = Place & {
  /** As the person typed it; JSON. */
  value: unknown
  /** What the field was when the person began, such as its version: the server compares it. */
  base: string | null
  /** Whether the field was left: the draft is to be sent. Before that it is only kept. */
  isLeft: boolean
}

export type Outbox = {
  /** Keeps what is typed now. Call it with each change: a crash loses nothing then. */
  keep: (place: Place, value: unknown, base: string | null, isLeft?: boolean) => void
  find: (place: Place) => Draft | undefined
  /** The drafts of a document, or all. */
  list: (document?: string) => Draft[]
  /** Forgets a draft: the server has it, or the person undid the change. */
  drop: (place: Place) => void
  /** Forgets everything of this person: at sign-out. */
  clear: () => void
  subscribe: (listener: () => void) => () => void
  close: () => void
}

const PREFIX = 'docrail.draft'

/** Opens the outbox of a person. */
export function openOutbox(storage: Storage, owner: Owner): Outbox {
  const prefix = [PREFIX, owner.tenant, owner.name].map(encodeURIComponent).join('/') + '/'
  const listeners = new Set<() => void>()

  const keyOf = ({ document, field }: Place): string => prefix + [document, field].map(encodeURIComponent).join('/')

  function changed(): void {
    listeners.forEach((listener) => listener())
  }

  function read(key: string): Draft | undefined {
    try {
      return (JSON.parse(storage.getItem(key) ?? 'null') as Draft | null) ?? undefined
    } catch {
      return undefined // not ours
    }
  }

  function keysHere(): string[] {
    const found = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '')
    return found.filter((key) => key.startsWith(prefix)).toSorted()
  }

  const elsewhere = (event: StorageEvent): void => {
    if (event.key === null || event.key.startsWith(prefix)) changed()
  }
  addEventListener('storage', elsewhere)

  return {
    keep: (place, value, base, isLeft = false) => {
      const draft: Draft = { ...place, value, base: read(keyOf(place))?.base ?? base, isLeft }
      storage.setItem(keyOf(place), JSON.stringify(draft))
      changed()
    },
    find: (place) => read(keyOf(place)),
    list: (document) => {
      const drafts = keysHere().flatMap((key) => read(key) ?? [])
      return drafts.filter((draft) => document === undefined || draft.document === document)
    },
    drop: (place) => {
      storage.removeItem(keyOf(place))
      changed()
    },
    clear: () => {
      keysHere().forEach((key) => storage.removeItem(key))
      changed()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => removeEventListener('storage', elsewhere),
  }
}
