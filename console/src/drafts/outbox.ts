/**
 * What people have typed and the server does not have yet. A draft is kept outside of components, in local storage, under
 * its person, tenant, document and field: it survives a reload, a crash, navigation and the end of the session. It is sent
 * when its field is left, and again until the server answers. It leaves with the answer, or at sign-out.
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
  isReady: boolean
  /** Why the server did not take it. It stays until the person decides. */
  refused: Refusal | null
}

/** `conflict`: someone else has changed the field meanwhile, to `theirs`. `invalid`: the server says what is wrong. */
export type Refusal = { kind: 'conflict'; theirs: unknown } | { kind: 'invalid'; detail: string }

/** Sends a draft. Returns null if the server took it, else its refusal. Throws if it did not answer: sent again later. */
export type Sender = (draft: Draft) => Promise<Refusal | null>

export type Outbox = {
  /** Keeps what is typed now. Call it with each change: a crash loses nothing then. */
  keep: (place: Place, value: unknown, base: string | null) => void
  /** The field was left: sends its draft, now or as soon as the server answers. */
  leave: (place: Place) => Promise<void>
  find: (place: Place) => Draft | undefined
  /** The drafts of a document, or all. */
  list: (document?: string) => Draft[]
  /** Forgets a draft: the person took the server's value, or undid the change. */
  drop: (place: Place) => void
  /** Sends what is ready: after sign-in, when the server is back. */
  flush: () => Promise<void>
  /** Forgets everything of this person: at sign-out. */
  clear: () => void
  subscribe: (listener: () => void) => () => void
  close: () => void
}

export const RETRY_MS = 2_000
const LONGEST_RETRY_MS = 30_000
const PREFIX = 'docrail.draft'

/** Opens the outbox of a person. `send` knows how to send a field of a document. */
export function openOutbox(storage: Storage, owner: Owner, send: Sender): Outbox {
  const prefix = [PREFIX, owner.tenant, owner.name].map(encodeURIComponent).join('/') + '/'
  const listeners = new Set<() => void>()
  const sending = new Map<string, Promise<void>>()
  let retry: ReturnType<typeof setTimeout> | undefined
  let failures = 0

  const keyOf = ({ document, field }: Place): string => prefix + [document, field].map(encodeURIComponent).join('/')

  function changed(): void {
    listeners.forEach((listener) => listener())
  }

  function write(draft: Draft): void {
    storage.setItem(keyOf(draft), JSON.stringify(draft))
    changed()
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

  function list(document?: string): Draft[] {
    const drafts = keysHere().map(read)
    return drafts.filter(
      (draft) => draft !== undefined && (document === undefined || draft.document === document),
    ) as Draft[]
  }

  /** Sends one draft. What is typed while it is sent is another draft, and stays. */
  async function sendOne(draft: Draft): Promise<void> {
    const refused = await send(draft)
    failures = 0
    const now = read(keyOf(draft))
    if (!now || (now.value !== draft.value && JSON.stringify(now.value) !== JSON.stringify(draft.value))) return
    if (refused === null) storage.removeItem(keyOf(draft))
    else storage.setItem(keyOf(draft), JSON.stringify({ ...now, isReady: false, refused } satisfies Draft))
    changed()
  }

  function sendOnce(draft: Draft): Promise<void> {
    const key = keyOf(draft)
    const running = sending.get(key) ?? sendOne(draft).finally(() => sending.delete(key))
    sending.set(key, running)
    return running
  }

  async function flush(): Promise<void> {
    clearTimeout(retry)
    try {
      for (const draft of list().filter((each) => each.isReady)) await sendOnce(draft)
    } catch {
      failures += 1
      retry = setTimeout(() => void flush(), Math.min(RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS))
    }
  }

  const elsewhere = (event: StorageEvent): void => {
    if (event.key === null || event.key.startsWith(prefix)) changed()
  }
  addEventListener('storage', elsewhere)

  return {
    keep: (place, value, base) => {
      const before = read(keyOf(place))
      write({ ...place, value, base: before?.base ?? base, isReady: false, refused: before?.refused ?? null })
    },
    leave: async (place) => {
      const draft = read(keyOf(place))
      if (!draft) return
      write({ ...draft, isReady: true, refused: null })
      await flush()
    },
    find: (place) => read(keyOf(place)),
    list,
    drop: (place) => {
      storage.removeItem(keyOf(place))
      changed()
    },
    flush,
    clear: () => {
      keysHere().forEach((key) => storage.removeItem(key))
      changed()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => {
      clearTimeout(retry)
      removeEventListener('storage', elsewhere)
    },
  }
}
