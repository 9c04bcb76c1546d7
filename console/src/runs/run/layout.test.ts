import { expect, test } from 'vitest'

import { NODE_HEIGHT, NODE_WIDTH, type Places, placesOf } from './layout'
import { type LayoutWorker, layoutQueue } from './layout_queue'

const chain = (length: number) => ({
  nodes: Array.from({ length }, (_, at) => ({ id: `s${at}` })),
  edges: Array.from({ length: length - 1 }, (_, at) => ({ source: `s${at}`, target: `s${at + 1}` })),
})

function overlaps(places: Places): boolean {
  const all = Object.values(places)
  return all.some((a, at) =>
    all.slice(at + 1).some((b) => Math.abs(a.x - b.x) < NODE_WIDTH && Math.abs(a.y - b.y) < NODE_HEIGHT),
  )
}

test('a step is to the right of those that it waits for, and no two overlap', () => {
  const edges = ['ab', 'ac', 'bd', 'cd'].map(([source = '', target = '']) => ({ source, target }))
  const places = placesOf({ nodes: [...'abcd'].map((id) => ({ id })), edges })
  for (const { source, target } of edges)
    expect((places[source]?.x ?? NaN) + NODE_WIDTH).toBeLessThan(places[target]?.x ?? NaN)
  expect(overlaps(places)).toBe(false)
})

test('three hundred nodes with many arrows do not overlap', () => {
  const id = (layer: number, at: number) => `n${layer}_${at % 50}`
  const all = Array.from({ length: 300 }, (_, number) => ({ layer: Math.floor(number / 50), at: number % 50 }))
  const edges = all
    .filter(({ layer }) => layer > 0)
    .flatMap(({ layer, at }) => [0, 1, 2].map((by) => ({ source: id(layer - 1, at + by), target: id(layer, at) })))
  expect(overlaps(placesOf({ nodes: all.map(({ layer, at }) => ({ id: id(layer, at) })), edges }))).toBe(false)
})

test('a drawing is laid out once for its key', async () => {
  const { queue, workers } = fakes()
  const first = queue.place('a', chain(3))
  workers[0]?.finish({ s0: { x: 1, y: 2 } })
  expect(await first).toEqual({ s0: { x: 1, y: 2 } })
  expect(await queue.place('a', chain(3))).toBe(await first)
  expect(queue.known('a')).toBe(await first)
  expect(workers.map((each) => each.terminated)).toEqual([true])
})

test('a newer drawing stops the layout before', async () => {
  const { queue, workers } = fakes()
  const first = queue.place('a', chain(3))
  const second = queue.place('b', chain(2))
  await expect(first).rejects.toThrow('newer drawing')
  expect(workers[0]?.terminated).toBe(true)
  workers[1]?.finish({})
  expect(await second).toEqual({})
})

type FakeWorker = EventTarget & { terminated: boolean; finish: (places: Places) => void }

function fakes() {
  const workers: FakeWorker[] = []
  const queue = layoutQueue((): LayoutWorker => {
    const worker = Object.assign(new EventTarget(), {
      terminated: false,
      postMessage: () => undefined,
      terminate: () => {
        worker.terminated = true
      },
      finish: (data: Places) => worker.dispatchEvent(new MessageEvent('message', { data })),
    })
    workers.push(worker)
    return worker
  })
  return { queue, workers }
}
