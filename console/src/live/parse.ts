/** Reads the format of server-sent events (WHATWG HTML, 9.2.6) from the body of an answer. */

export type RawEvent = { name: string; data: string; id: string | undefined }

/** Yields the events of a stream as they arrive. Throws when the connection breaks. */
export async function* eventsIn(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<RawEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      const blocks = (rest + value).split(/\r?\n\r?\n/)
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = eventOfBlock(block)
        if (event) yield event
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function eventOfBlock(block: string): RawEvent | undefined {
  const event: RawEvent = { name: 'message', data: '', id: undefined }
  const data: string[] = []
  for (const line of block.split(/\r?\n/)) {
    const [, field, value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    if (field === 'event') event.name = value
    if (field === 'data') data.push(value)
    if (field === 'id') event.id = value
  }
  return data.length === 0 ? undefined : { ...event, data: data.join('\n') }
}
