/**
 * The states of the drawn nodes, outside React: a patch wakes up only the nodes whose state has changed, and never
 * touches their places. Plain TypeScript.
 */
import type { NodeState } from '../queries'

export type NodeStates = ReturnType<typeof nodeStates>

export function nodeStates() {
  const states = new Map<string, NodeState>()
  const listeners = new Map<string, Set<() => void>>()

  /** Takes all states as they are now, and returns the ids of the nodes that have changed. */
  function apply(latest: Readonly<Record<string, NodeState>>): string[] {
    const changed = Object.keys(latest).filter((id) => !isSame(states.get(id), latest[id]))
    const gone = [...states.keys()].filter((id) => !(id in latest))
    for (const id of changed) states.set(id, latest[id] as NodeState)
    for (const id of gone) states.delete(id)
    const all = [...changed, ...gone]
    all.forEach((id) => listeners.get(id)?.forEach((listener) => listener()))
    return all
  }

  function get(id: string): NodeState | undefined {
    return states.get(id)
  }

  function subscribe(id: string, listener: () => void): () => void {
    const own = listeners.get(id) ?? new Set()
    listeners.set(id, own.add(listener))
    return () => {
      own.delete(listener)
      if (own.size === 0 && listeners.get(id) === own) listeners.delete(id)
    }
  }

  return { apply, get, subscribe }
}

function isSame(a: NodeState | undefined, b: NodeState | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
