import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { connect, type Connection, POLL_MS, type Receiver, SILENCE_MS } from './connection'

const URL = 'http://console.test/v1/events'

/** A server whose streams the test writes. */
function fakeServer() {
  const requests: Request[] = []
  const streams: ReadableStreamDefaultController<Uint8Array>[] = []
  let status = 200
  return {
    requests,
    refuse: (next: number) => (status = next),
    fetch: (request: Request): Promise<Response> => {
      requests.push(request)
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          streams.push(controller)
          request.signal.addEventListener('abort', () => controller.error(new Error('aborted')))
        },
      })
      return Promise.resolve(new Response(body, { status }))
    },
    async send(name: string, data: object = {}, id = ''): Promise<void> {
      const text = `event: ${name}\ndata: ${JSON.stringify(data)}\n${id && `id: ${id}\n`}\n`
      streams.at(-1)?.enqueue(new TextEncoder().encode(text))
      await vi.advanceTimersByTimeAsync(1)
    },
    async cut(): Promise<void> {
      streams.at(-1)?.close()
      await vi.advanceTimersByTimeAsync(1)
    },
  }
}

let open: Connection | undefined
const receiver = {
  onChange: vi.fn<Receiver['onChange']>(),
  onResync: vi.fn<Receiver['onResync']>(),
  onState: vi.fn<Receiver['onState']>(),
}

beforeEach(() => {
  vi.useFakeTimers()
  vi.clearAllMocks()
})
afterEach(() => {
  open?.close()
  vi.useRealTimers()
})

test('changes are handed on, and what is shown is read again when the stream begins', async () => {
  const server = fakeServer()
  open = connect(URL, server.fetch, receiver)
  await server.send('hello', { version: '1' })
  expect(receiver.onState).toHaveBeenLastCalledWith('live')
  expect(receiver.onResync).toHaveBeenCalledOnce()
  await server.send('change', { kind: 'run', id: 'a.b', version: 1 })
  expect(receiver.onChange).toHaveBeenCalledWith({ kind: 'run', id: 'a.b', version: 1 })
  await server.send('resync')
  expect(receiver.onResync).toHaveBeenCalledTimes(2)
})

test('events of kinds that this version does not know are ignored', async () => {
  const server = fakeServer()
  open = connect(URL, server.fetch, receiver)
  await server.send('hello')
  await server.send('change', { kind: 'invention', id: 'x', version: 1 })
  await server.send('news', {})
  expect(receiver.onChange).not.toHaveBeenCalled()
})

test('a stream that is cut is opened again, from the last id', async () => {
  const server = fakeServer()
  open = connect(URL, server.fetch, receiver)
  await server.send('hello', {}, '7-1:2:')
  await server.cut()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(server.requests).toHaveLength(2)
  expect(server.requests[1]?.headers.get('Last-Event-ID')).toBe('7-1:2:')
})

test('25 seconds of silence start polling, and a stream that works ends it', async () => {
  const server = fakeServer()
  open = connect(URL, server.fetch, receiver)
  await server.send('hello')
  await vi.advanceTimersByTimeAsync(SILENCE_MS - 2_000)
  await server.send('heartbeat')
  await vi.advanceTimersByTimeAsync(SILENCE_MS - 2_000)
  expect(receiver.onState).not.toHaveBeenCalledWith('polling')
  await vi.advanceTimersByTimeAsync(3_000)
  expect(receiver.onState).toHaveBeenLastCalledWith('polling')
  receiver.onResync.mockClear()
  await vi.advanceTimersByTimeAsync(POLL_MS * 3)
  expect(receiver.onResync).toHaveBeenCalledTimes(3)
  await server.send('hello')
  expect(receiver.onState).toHaveBeenLastCalledWith('live')
  receiver.onResync.mockClear()
  await server.send('heartbeat')
  await vi.advanceTimersByTimeAsync(POLL_MS * 3)
  expect(receiver.onResync).not.toHaveBeenCalled()
})

test('a server that refuses the stream is polled, and asked again ever more rarely', async () => {
  const server = fakeServer()
  server.refuse(503)
  open = connect(URL, server.fetch, receiver)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(receiver.onState).toHaveBeenLastCalledWith('polling')
  expect(server.requests.length).toBeGreaterThan(4)
  expect(server.requests.length).toBeLessThan(15)
})

test('other runs to watch need another stream, the same runs do not', async () => {
  const server = fakeServer()
  open = connect(URL, server.fetch, receiver)
  await server.send('hello')
  open.watch(['b.2', 'a.1'])
  await vi.advanceTimersByTimeAsync(1)
  expect(server.requests.at(-1)?.url).toBe(`${URL}?runs=a.1,b.2`)
  open.watch(['a.1', 'b.2'])
  await vi.advanceTimersByTimeAsync(1)
  expect(server.requests).toHaveLength(2)
})

test('a closed connection asks nothing more', async () => {
  const server = fakeServer()
  open = connect(URL, server.fetch, receiver)
  await server.send('hello')
  open.close()
  vi.clearAllMocks()
  await vi.advanceTimersByTimeAsync(120_000)
  expect(server.requests).toHaveLength(1)
  expect(receiver.onResync).not.toHaveBeenCalled()
})
