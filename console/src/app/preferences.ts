/**
 * What a person has chosen for this browser, in local storage. Components read a preference with `useSignal`, other code
 * with `get`. All tabs see a change.
 */
import { type Signal, signal } from './signal'

/** `read` returns the value of stored JSON, or the default for anything that it does not know. */
export function preference<T>(name: string, read: (stored: unknown) => T): Signal<T> {
  const key = `docrail.${name}`
  const kept = signal(read(stored(key)))
  addEventListener('storage', (event) => {
    if (event.key === key) kept.set(read(stored(key)))
  })
  return {
    ...kept,
    set: (value) => {
      store(key, value)
      kept.set(value)
    },
  }
}

/** Returns a `read` for one of a few words; the first is the default. */
export function oneOf<T extends string>(...allowed: [T, ...T[]]): (stored: unknown) => T {
  return (found) => allowed.find((each) => each === found) ?? allowed[0]
}

function stored(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null')
  } catch {
    return null // blocked, or not ours
  }
}

function store(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value))
  } catch {
    // blocked or full: the choice lasts as long as the page
  }
}
