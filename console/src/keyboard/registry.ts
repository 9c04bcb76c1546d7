/** The commands that work on the page at present, and which of them a key runs. Plain TypeScript: components use the hook. */
import { signal } from '@/app/signal'

import { keysOf } from './bindings'
import { type CommandId, commandOf } from './commands'
import { isActivated, isSingle, isTextField, keyOf } from './keys'

export type Handler = (event?: KeyboardEvent) => void

export type Entry = {
  id: CommandId
  run: Handler
  /** It belongs to a dialog: while one is open, the page's own commands rest. */
  inDialog: boolean
  /** It runs only if the page has no command of its own for the key. */
  isFallback: boolean
}

/** Those of what was mounted last come first, fallbacks at the end. */
export const activeCommands = signal<readonly Entry[]>([])

/** Adds commands, and returns the function that removes them. */
export function register(entries: readonly Entry[]): () => void {
  const all = [...entries, ...activeCommands.get()]
  activeCommands.set([...all.filter((each) => !each.isFallback), ...all.filter((each) => each.isFallback)])
  return () => activeCommands.set(activeCommands.get().filter((each) => !entries.includes(each)))
}

export function listenForKeys(): void {
  let wasInDialog = false
  // Before the dialog sees the key: Escape has closed it by the time the key arrives here.
  addEventListener('keydown', () => (wasInDialog = hasDialog()), { capture: true })
  addEventListener('keydown', (event) => dispatch(event, wasInDialog))
}

/** Runs the command of a key, if there is one that may run where the focus is. */
export function dispatch(event: KeyboardEvent, wasInDialog = false): void {
  const key = keyOf(event)
  if (key === undefined || event.defaultPrevented || event.isComposing) return
  const inDialog = wasInDialog || hasDialog()
  const entry = activeCommands
    .get()
    .filter((each) => each.inDialog || !inDialog)
    .find((each) => keysOf(each.id).includes(key) && mayRun(each, key, event.target))
  if (!entry) return
  event.preventDefault()
  // A held key decides nothing: the next document is on the screen before the key is up.
  if (!event.repeat || commandOf(entry.id).repeats) entry.run(event)
}

function hasDialog(): boolean {
  return document.querySelector('[aria-modal="true"]') !== null
}

function mayRun(entry: Entry, key: string, target: EventTarget | null): boolean {
  // A single character is typed into a text field, also where a person chose it for a command that works there.
  if (isTextField(target)) return commandOf(entry.id).inFields === true && !isSingle(key)
  return !((key === 'Enter' || key === ' ') && isActivated(target))
}
