import { useEffect, useRef } from 'react'

import type { CommandId } from './commands'
import { type Handler, register } from './registry'

type Handlers = Partial<Record<CommandId, Handler | undefined>>

/**
 * Makes commands work while the component is mounted: `useCommands({ 'list.next': () => move(1) })`. A command with the
 * handler `undefined` does not work at present. `inDialog`: the component is inside a dialog.
 */
export function useCommands(handlers: Handlers, { inDialog = false } = {}): void {
  const latest = useRef(handlers)
  useEffect(() => {
    latest.current = handlers
  })
  const active = (Object.keys(handlers) as CommandId[]).filter((id) => handlers[id]).join(' ')
  useEffect(() => {
    const ids = active.split(' ').filter(Boolean) as CommandId[]
    return register(ids.map((id) => ({ id, inDialog, run: (event) => latest.current[id]?.(event) })))
  }, [active, inDialog])
}
