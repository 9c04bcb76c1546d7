import { expect, test } from 'vitest'

import { bendKey, type Layout, layoutOf, NODE_HEIGHT, NODE_WIDTH, type Places } from './layout'
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
  const { places } = layoutOf({ nodes: [...'abcd'].map((id) => ({ id })), edges })
  for (const { source, target } of edges)
    expect((places[source]?.x ?? NaN) + NODE_WIDTH).toBeLessThan(places[target]?.x ?? NaN)
  expect(overlaps(places)).toBe(false)
})

test('an arrow over several layers goes around the nodes between', () => {
  const edges = ['ab', 'bc', 'ac'].map(([source = '', target = '']) => ({ source, target }))
  const { places, bends } = layoutOf({ nodes: [...'abc'].map((id) => ({ id })), edges })
  const { x, y } = places.b ?? { x: NaN, y: NaN }
  const inColumn = bends[bendKey('a', 'c')]?.filter((bend) => bend.x >= x && bend.x <= x + NODE_WIDTH) ?? []
  expect(inColumn.length).toBeGreaterThan(0)
  expect(inColumn.filter((bend) => bend.y > y && bend.y < y + NODE_HEIGHT)).toEqual([])
  expect(Object.keys(bends)).toEqual([bendKey('a', 'c')])
})

test('three hundred nodes with many arrows do not overlap', () => {
  const id = (layer: number, at: number) => `n${layer}_${at % 50}`
  const all = Array.from({ length: 300 }, (_, number) => ({ layer: Math.floor(number / 50), at: number % 50 }))
  const edges = all
    .filter(({ layer }) => layer > 0)
    .flatMap(({ layer, at }) => [0, 1, 2].map((by) => ({ source: id(layer - 1, at + by), target: id(layer, at) })))
  expect(overlaps(layoutOf({ nodes: all.map(({ layer, at }) => ({ id: id(layer, at) })), edges }).places)).toBe(false)
})

test('a drawing is laid out once for its key', async () => {
  const { queue, workers } = fakes()
  const first = queue.place('a', chain(3))
  const layout = { places: { s0: { x: 1, y: 2 } }, bends: {} }
  workers[0]?.finish(layout)
  expect(await first).toEqual(layout)
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
  workers[1]?.finish({ places: {}, bends: {} })
  expect(await second).toEqual({ places: {}, bends: {} })
})

type FakeWorker = EventTarget & { terminated: boolean; finish: (layout: Layout) => void }

function fakes() {
  const workers: FakeWorker[] = []
  const queue = layoutQueue((): LayoutWorker => {
    const worker = Object.assign(new EventTarget(), {
      terminated: false,
      postMessage: () => undefined,
      terminate: () => {
        worker.terminated = true
      },
      finish: (data: Layout) => worker.dispatchEvent(new MessageEvent('message', { data })),
    })
    workers.push(worker)
    return worker
  })
  return { queue, workers }
}
