/**
 * Lays drawings out in a worker, one at a time: a newer drawing stops the layout of the one before. Layouts are kept by
 * the digest of the definition and its open groups, so that no change of a state ever moves a node.
 */
import type { Drawing, Places } from './layout'

export type LayoutWorker = Pick<Worker, 'postMessage' | 'terminate' | 'addEventListener'>

const MOST_KEPT = 30

export function layoutQueue(createWorker: () => LayoutWorker) {
  const kept = new Map<string, Places>()
  let running: { worker: LayoutWorker; stop: () => void } | undefined

  /** The layout that is known already. */
  function known(key: string): Places | undefined {
    return kept.get(key)
  }

  /** Lays out; rejects with an AbortError if a newer drawing comes first. */
  async function place(key: string, drawing: Drawing): Promise<Places> {
    const found = kept.get(key)
    if (found) return found
    running?.stop()
    const { promise, resolve, reject } = Promise.withResolvers<Places>()
    const worker = createWorker()
    const stop = () => {
      worker.terminate()
      reject(new DOMException('a newer drawing is laid out', 'AbortError'))
    }
    running = { worker, stop }
    worker.addEventListener('message', (event: MessageEvent<Places>) => resolve(event.data))
    worker.addEventListener('error', (event) => reject(new Error(event.message || 'the layout failed')))
    worker.postMessage(drawing) // oxlint-disable-line unicorn/require-post-message-target-origin -- a worker has none
    try {
      const places = await promise
      keep(key, places)
      return places
    } finally {
      worker.terminate()
      if (running?.worker === worker) running = undefined
    }
  }

  function keep(key: string, places: Places): void {
    kept.set(key, places)
    const oldest = kept.keys().next().value
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
  }

  return { known, place }
}

export const layouts = layoutQueue(() => new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' }))
