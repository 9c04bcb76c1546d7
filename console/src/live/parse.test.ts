import { expect, test } from 'vitest'

import { eventsIn, type RawEvent } from './parse'

function streamOf(...parts: string[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part))
      controller.close()
    },
  })
}

async function all(...parts: string[]): Promise<RawEvent[]> {
  const found: RawEvent[] = []
  for await (const event of eventsIn(streamOf(...parts))) found.push(event)
  return found
}

test('an event is read whole, however it is cut', async () => {
  const text = 'event: change\ndata: {"id":"ä"}\nid: 1-2:3:\n\n: ping\n\nevent: heartbeat\ndata: {}\n\n'
  const expected = [
    { name: 'change', data: '{"id":"ä"}', id: '1-2:3:' },
    { name: 'heartbeat', data: '{}', id: undefined },
  ]
  expect(await all(text)).toEqual(expected)
  expect(await all(...text)).toEqual(expected)
})

test('an event that is cut off does not count', async () => {
  expect(await all('event: change\ndata: {}')).toEqual([])
})
