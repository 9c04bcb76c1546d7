/**
 * Keeps one stream of events open. A stream that is silent for too long is dead, even if the network does not say so: a
 * proxy that buffers gives no error. Then everything that is shown is read again every few seconds, until a stream works.
 */
import { type Change, eventOf } from './messages'
import { eventsIn } from './parse'

export const SILENCE_MS = 25_000
export const POLL_MS = 5_000
const FIRST_RETRY_MS = 500
const LONGEST_RETRY_MS = 15_000

export type Receiver = {
  onChange: (change: Change) => void
  /** Changes may have been missed: read everything that is shown again. */
  onResync: () => void
  /** Whether events arrive, or everything is read again every few seconds instead. */
  onState: (state: 'live' | 'polling') => void
}

export type Connection = {
  /** Watches the steps of these runs too. */
  watch: (runs: readonly string[]) => void
  close: () => void
}

type Fetch = (request: Request) => Promise<Response>

/** Opens a stream of the API at `url` and keeps it open. `fetch` may wait, for example until the person has signed in. */
export function connect(url: string, fetch: Fetch, receiver: Receiver): Connection {
  let watched: readonly string[] = []
  let lastId: string | undefined
  let attempt: AbortController | undefined
  let failures = 0
  let isClosed = false
  let silence: ReturnType<typeof setTimeout> | undefined
  let retry: ReturnType<typeof setTimeout> | undefined
  let polling: ReturnType<typeof setInterval> | undefined

  function alive(): void {
    clearTimeout(silence)
    silence = setTimeout(silent, SILENCE_MS)
  }

  function silent(): void {
    poll()
    open()
  }

  function poll(): void {
    if (polling !== undefined || isClosed) return
    receiver.onState('polling')
    receiver.onResync()
    polling = setInterval(receiver.onResync, POLL_MS)
  }

  function live(): void {
    clearInterval(polling)
    polling = undefined
    failures = 0
    receiver.onState('live')
    receiver.onResync() // what was read before the stream began may be out of date
  }

  function open(): void {
    attempt?.abort()
    clearTimeout(retry)
    if (isClosed) return
    const mine = (attempt = new AbortController())
    alive()
    read(mine.signal)
      .catch(() => undefined) // an end is an end, whatever the reason
      .finally(() => {
        if (mine.signal.aborted) return
        failures += 1
        if (failures > 1) poll()
        retry = setTimeout(open, Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS))
      })
  }

  async function read(signal: AbortSignal): Promise<void> {
    const query = watched.length === 0 ? '' : `?runs=${watched.map(encodeURIComponent).join(',')}`
    const headers = new Headers(lastId === undefined ? {} : { 'Last-Event-ID': lastId })
    const response = await fetch(new Request(url + query, { headers, signal, cache: 'no-store' }))
    if (!response.ok || !response.body) throw new Error(`the stream was refused: ${response.status}`)
    for await (const { name, data, id } of eventsIn(response.body)) {
      if (signal.aborted) return
      alive()
      lastId = id ?? lastId
      const event = eventOf(name, data)
      if (event?.name === 'hello') live()
      if (event?.name === 'resync') receiver.onResync()
      if (event?.name === 'change') receiver.onChange(event.change)
    }
  }

  open()
  return {
    watch(runs) {
      const wanted = runs.toSorted()
      if (wanted.join() === watched.join()) return
      watched = wanted
      open()
    },
    close() {
      isClosed = true
      attempt?.abort()
      clearTimeout(silence)
      clearTimeout(retry)
      clearInterval(polling)
    },
  }
}
