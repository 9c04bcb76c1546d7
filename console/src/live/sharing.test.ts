import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import type { Receiver } from './connection'
import { follow, type Follower, type Live, REST_MS } from './sharing'

/** Locks as a browser has them: one holder, the others wait in order. */
function fakeLocks() {
  let tail = Promise.resolve()
  return {
    request(_: string, { signal }: { signal: AbortSignal }, use: () => Promise<void> | undefined): Promise<void> {
      const turn = tail.then(() => (signal.aborted ? undefined : use()))
      tail = turn.then(() => undefined)
      return turn as Promise<void>
    },
  }
}

/** A channel that delivers at once, to all but the sender. */
class FakeChannel {
  static all = new Set<FakeChannel>()
  private listener: (message: { data: unknown }) => void = () => undefined
  constructor() {
    FakeChannel.all.add(this)
  }
  postMessage(data: unknown): void {
    for (const each of FakeChannel.all) if (each !== this) each.listener({ data })
  }
  addEventListener(_: string, listener: (message: { data: unknown }) => void): void {
    this.listener = listener
  }
  close(): void {
    FakeChannel.all.delete(this)
  }
}

const streams: { receiver: Receiver; watched: readonly string[]; isClosed: boolean }[] = []
const open = (receiver: Receiver) => {
  const stream = { receiver, watched: [] as readonly string[], isClosed: false }
  streams.push(stream)
  return {
    watch: (runs: readonly string[]) => void (stream.watched = runs),
    close: () => void (stream.isClosed = true),
  }
}
const tabs: Live[] = []

function newTab() {
  const follower = {
    onChange: vi.fn<Follower['onChange']>(),
    onResync: vi.fn<Follower['onResync']>(),
    onState: vi.fn<Follower['onState']>(),
  }
  const live = follow(open, follower)
  tabs.push(live)
  return { ...follower, live }
}

function hide(isHidden: boolean): void {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(isHidden)
  document.dispatchEvent(new Event('visibilitychange'))
}

const CHANGE = { kind: 'run', id: 'a.b', version: 1 } as const

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('BroadcastChannel', FakeChannel)
  vi.stubGlobal('navigator', { locks: fakeLocks() })
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(false)
  streams.length = 0
})
afterEach(() => {
  for (const tab of tabs.splice(0)) tab.close()
  FakeChannel.all.clear()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

test('eight tabs have one stream, and all hear of a change', async () => {
  const eight = Array.from({ length: 8 }, newTab)
  await vi.advanceTimersByTimeAsync(1)
  expect(streams).toHaveLength(1)
  streams[0]?.receiver.onChange(CHANGE)
  for (const tab of eight) expect(tab.onChange).toHaveBeenCalledExactlyOnceWith(CHANGE)
})

test('when the tab with the stream is closed, another one opens it', async () => {
  const [first, second] = [newTab(), newTab()]
  await vi.advanceTimersByTimeAsync(1)
  first.live.close()
  await vi.advanceTimersByTimeAsync(1)
  expect(streams.map(({ isClosed }) => isClosed)).toEqual([true, false])
  streams[1]?.receiver.onChange(CHANGE)
  expect(second.onChange).toHaveBeenCalledOnce()
  expect(first.onChange).not.toHaveBeenCalled()
})

test('the stream watches the runs of all tabs, also after it has moved', async () => {
  const [first, second] = [newTab(), newTab()]
  await vi.advanceTimersByTimeAsync(1)
  first.live.watch(['a.1'])
  second.live.watch(['b.2'])
  expect(streams[0]?.watched.toSorted()).toEqual(['a.1', 'b.2'])
  const third = newTab()
  third.live.watch(['c.3'])
  first.live.close()
  await vi.advanceTimersByTimeAsync(1)
  expect(streams[1]?.watched.toSorted()).toEqual(['b.2', 'c.3'])
})

test('a tab that is hidden for 30 seconds rests, and reads everything again when it is looked at', async () => {
  const tab = newTab()
  await vi.advanceTimersByTimeAsync(1)
  hide(true)
  await vi.advanceTimersByTimeAsync(REST_MS - 1_000)
  expect(streams[0]?.isClosed).toBe(false)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(streams[0]?.isClosed).toBe(true)
  expect(tab.onState).toHaveBeenLastCalledWith('resting')
  tab.onResync.mockClear()
  hide(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(tab.onResync).toHaveBeenCalled()
  expect(streams).toHaveLength(2)
})

test('a glance at another tab does not cost the stream', async () => {
  newTab()
  await vi.advanceTimersByTimeAsync(1)
  hide(true)
  await vi.advanceTimersByTimeAsync(REST_MS / 2)
  hide(false)
  await vi.advanceTimersByTimeAsync(REST_MS * 2)
  expect(streams.map(({ isClosed }) => isClosed)).toEqual([false])
})

test('without locks each tab that is looked at has a stream', async () => {
  vi.stubGlobal('navigator', {})
  newTab()
  newTab()
  await vi.advanceTimersByTimeAsync(1)
  expect(streams).toHaveLength(2)
})
