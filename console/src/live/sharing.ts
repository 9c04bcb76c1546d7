/**
 * One stream for each browser, not for each tab: over HTTP/1.1 a browser has six connections to a server, and the seventh
 * tab would hang. A lock elects the tab that has the stream, and a channel feeds the others. A tab that was hidden for a
 * while rests: it gives the stream to another one, and reads everything again when it is looked at.
 */
import { type Connection, connect, type Receiver } from './connection'
import type { Change } from './messages'

export const REST_MS = 30_000
const NAME = 'docrail.live'
/** The server's limit for one stream. */
const MOST_WATCHED = 8

export type LiveState = 'connecting' | 'live' | 'polling' | 'resting'

type Said =
  | { type: 'change'; change: Change }
  | { type: 'resync' }
  | { type: 'state'; state: 'live' | 'polling' }
  | { type: 'watch'; tab: string; runs: readonly string[] }
  | { type: 'who' }

export type Follower = {
  onChange: (change: Change) => void
  onResync: () => void
  onState: (state: LiveState) => void
}

export type Live = {
  watch: (runs: readonly string[]) => void
  close: () => void
}

/** Follows what changes, as this tab or another one hears it. `open` makes the stream, in the tab that is elected. */
export function follow(open: (receiver: Receiver) => Connection, follower: Follower): Live {
  const tab = crypto.randomUUID()
  const channel = new BroadcastChannel(NAME)
  const watching = new Map<string, readonly string[]>()
  let own: readonly string[] = []
  let stream: Connection | undefined
  let turn: AbortController | undefined
  let resting: ReturnType<typeof setTimeout> | undefined
  let isActive = false

  function post(said: Said): void {
    // oxlint-disable-next-line require-post-message-target-origin -- of windows, not of channels
    channel.postMessage(said)
  }

  function say(said: Said): void {
    post(said)
    hear(said) // a channel does not deliver to its own tab
  }

  function hear(said: Said): void {
    if (said.type === 'watch') {
      watching.set(said.tab, said.runs)
      stream?.watch(watchedNow())
    }
    if (said.type === 'who' && isActive) post({ type: 'watch', tab, runs: own })
    if (!isActive) return
    if (said.type === 'change') follower.onChange(said.change)
    if (said.type === 'resync') follower.onResync()
    if (said.type === 'state') follower.onState(said.state)
  }

  function watchedNow(): string[] {
    return [...new Set([...watching.values()].flat())].slice(-MOST_WATCHED)
  }

  function lead(): void {
    watching.clear()
    watching.set(tab, own)
    stream = open({
      onChange: (change) => say({ type: 'change', change }),
      onResync: () => say({ type: 'resync' }),
      onState: (state) => say({ type: 'state', state }),
    })
    stream.watch(watchedNow())
    post({ type: 'who' })
  }

  /** Waits for the stream to become this tab's, and holds it until the tab rests. */
  function compete(): void {
    const mine = (turn = new AbortController())
    // Over plain http to another machine browsers have no locks: then each tab that is looked at has a stream.
    if (!navigator.locks) return lead()
    const held = navigator.locks.request(NAME, { signal: mine.signal }, () => {
      if (mine.signal.aborted) return undefined
      lead()
      return new Promise<void>((resolve) => mine.signal.addEventListener('abort', () => resolve()))
    })
    held.catch(() => undefined) // it stopped waiting
  }

  function wake(): void {
    clearTimeout(resting)
    if (isActive) return
    isActive = true
    follower.onState('connecting')
    follower.onResync()
    compete()
    say({ type: 'watch', tab, runs: own })
  }

  function rest(): void {
    if (!isActive) return
    isActive = false
    stream?.close()
    stream = undefined
    turn?.abort()
    post({ type: 'watch', tab, runs: [] })
    follower.onState('resting')
  }

  function look(): void {
    clearTimeout(resting)
    if (!document.hidden) wake()
    else resting = setTimeout(rest, REST_MS)
  }

  channel.addEventListener('message', (message: MessageEvent<Said>) => hear(message.data))
  document.addEventListener('visibilitychange', look)
  addEventListener('pagehide', rest)
  addEventListener('pageshow', look)
  wake()
  look()
  return {
    watch(runs) {
      own = runs
      say({ type: 'watch', tab, runs: isActive ? runs : [] })
    },
    close() {
      rest()
      clearTimeout(resting)
      document.removeEventListener('visibilitychange', look)
      removeEventListener('pagehide', rest)
      removeEventListener('pageshow', look)
      channel.close()
    },
  }
}

/** Opens the stream of the API under `base`. */
export function streamOf(base: string, fetch: (request: Request) => Promise<Response>) {
  return (receiver: Receiver): Connection => connect(new URL(`${base}/v1/events`, location.href).href, fetch, receiver)
}
