import { useEffect, useRef } from 'react'

import type { CommandId } from './commands'
import { type Handler, register } from './registry'

type Handlers = Partial<Record<CommandId, Handler | undefined>>

type Options = {
  /** The component is inside a dialog: it works while one is open. */
  inDialog?: boolean
  /** The commands of the shell, which those of a page replace. */
  isFallback?: boolean
}

/**
 * Makes commands work while the component is mounted: `useCommands({ 'list.next': () => move(1) })`. A command with the
 * handler `undefined` does not work at present.
 */
export function useCommands(handlers: Handlers, { inDialog = false, isFallback = false }: Options = {}): void {
  const latest = useRef(handlers)
  useEffect(() => {
    latest.current = handlers
  })
  const active = (Object.keys(handlers) as CommandId[]).filter((id) => handlers[id]).join(' ')
  useEffect(() => {
    const ids = active.split(' ').filter(Boolean) as CommandId[]
    return register(ids.map((id) => ({ id, inDialog, isFallback, run: (event) => latest.current[id]?.(event) })))
  }, [active, inDialog, isFallback])
}
