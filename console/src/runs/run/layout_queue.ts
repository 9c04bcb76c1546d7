/**
 * Lays drawings out in a worker, one at a time: a newer drawing stops the layout of the one before. Layouts are kept by
 * the digest of the definition and its open groups, so that no change of a state ever moves a node.
 */
import type { Drawing, Layout } from './layout'

export type LayoutWorker = Pick<Worker, 'postMessage' | 'terminate' | 'addEventListener'>

const MOST_KEPT = 30

export function layoutQueue(createWorker: () => LayoutWorker) {
  const kept = new Map<string, Layout>()
  let running: { worker: LayoutWorker; stop: () => void } | undefined

  /** The layout that is known already. */
  function known(key: string): Layout | undefined {
    return kept.get(key)
  }

  /** Lays out; rejects with an AbortError if a newer drawing comes first. */
  async function place(key: string, drawing: Drawing): Promise<Layout> {
    const found = kept.get(key)
    if (found) return found
    running?.stop()
    const { promise, resolve, reject } = Promise.withResolvers<Layout>()
    const worker = createWorker()
    const stop = () => {
      worker.terminate()
      reject(new DOMException('a newer drawing is laid out', 'AbortError'))
    }
    running = { worker, stop }
    worker.addEventListener('message', (event: MessageEvent<Layout>) => resolve(event.data))
    worker.addEventListener('error', (event) => reject(new Error(event.message || 'the layout failed')))
    worker.postMessage(drawing) // oxlint-disable-line unicorn/require-post-message-target-origin -- a worker has none
    try {
      const layout = await promise
      keep(key, layout)
      return layout
    } finally {
      worker.terminate()
      if (running?.worker === worker) running = undefined
    }
  }

  function keep(key: string, layout: Layout): void {
    kept.set(key, layout)
    const oldest = kept.keys().next().value
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
  }

  return { known, place }
}

export const layouts = layoutQueue(() => new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' }))
