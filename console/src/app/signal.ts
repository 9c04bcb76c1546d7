/** A value outside React that components can follow: the smallest store there is. */
import { useSyncExternalStore } from 'react'

export type Signal<T> = {
  get: () => T
  set: (value: T) => void
  subscribe: (listener: () => void) => () => void
}

export function signal<T>(first: T): Signal<T> {
  let value = first
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return
      value = next
      listeners.forEach((listener) => listener())
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export function useSignal<T>(followed: Signal<T>): T {
  return useSyncExternalStore(followed.subscribe, followed.get)
}
