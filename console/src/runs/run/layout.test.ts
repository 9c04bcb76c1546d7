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
  for (const { source, target } of edges) expect(places[source]!.x + NODE_WIDTH).toBeLessThan(places[target]!.x)
  expect(overlaps(places)).toBe(false)
})

test('three hundred nodes with many arrows do not overlap', () => {
  const layers = Array.from({ length: 6 }, (_, layer) => Array.from({ length: 50 }, (_, at) => `n${layer}_${at}`))
  const edges = layers
    .slice(1)
    .flatMap((layer, above) =>
      layer.flatMap((target, at) => [0, 1, 2].map((by) => ({ source: layers[above]![(at + by) % 50]!, target }))),
    )
  expect(overlaps(placesOf({ nodes: layers.flat().map((id) => ({ id })), edges }))).toBe(false)
})

test('a drawing is laid out once for its key', async () => {
  const made: FakeWorker[] = []
  const queue = layoutQueue(() => fakeWorker(made))
  const first = queue.place('a', chain(3))
  made[0]!.finish({ s0: { x: 1, y: 2 } })
  expect(await first).toEqual({ s0: { x: 1, y: 2 } })
  expect(await queue.place('a', chain(3))).toBe(await first)
  expect(queue.known('a')).toBe(await first)
  expect(made).toHaveLength(1)
  expect(made[0]!.terminated).toBe(true)
})

test('a newer drawing stops the layout before', async () => {
  const made: FakeWorker[] = []
  const queue = layoutQueue(() => fakeWorker(made))
  const first = queue.place('a', chain(3))
  const second = queue.place('b', chain(2))
  await expect(first).rejects.toThrow('newer drawing')
  expect(made[0]!.terminated).toBe(true)
  made[1]!.finish({})
  expect(await second).toEqual({})
})

type FakeWorker = LayoutWorker & { finish: (places: Places) => void; terminated: boolean }

function fakeWorker(made: FakeWorker[]): FakeWorker {
  const worker: FakeWorker = {
    onmessage: null,
    onerror: null,
    terminated: false,
    postMessage: () => undefined,
    terminate: () => {
      worker.terminated = true
    },
    finish: (data) => worker.onmessage?.call(worker as unknown as Worker, new MessageEvent('message', { data })),
  }
  made.push(worker)
  return worker
}
