import { useEffect, useState } from 'react'

import { type Current, moved, placeOf } from './current_row'
import { useCommands } from './use_commands'

type Options = {
  /** The rows in their order. */
  ids: readonly string[]
  /** Names what the list shows. Another view, for example another filter, begins at its first row. */
  view?: string
  onOpen: (index: number) => void
}

/**
 * Gives a list its keys: the arrows, `j` and `k` move the current row, at first the first one, and `Enter` opens it. Returns
 * its place, -1 in an empty list. The row with `aria-current` and `data-list-row` is kept in sight.
 */
export function useCurrentRow({ ids, view = '', onOpen }: Options): number {
  const [kept, setKept] = useState<{ view: string; row: Current }>()
  const hasMoved = kept?.view === view
  const current = placeOf(hasMoved ? kept.row : { id: '', index: 0 }, ids)
  const move = (from: number, by: number) => {
    const row = moved(from, by, ids)
    if (row) setKept({ view, row })
  }
  const isFilled = ids.length > 0
  useCommands({
    'list.next': isFilled ? () => move(current, 1) : undefined,
    'list.previous': isFilled ? () => move(current, -1) : undefined,
    'list.first': isFilled ? () => move(0, 0) : undefined,
    'list.last': isFilled ? () => move(0, Infinity) : undefined,
    'list.open': isFilled ? () => onOpen(current) : undefined,
  })
  useEffect(() => {
    if (!hasMoved || current < 0) return
    document.querySelector('[data-list-row][aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [current, hasMoved])
  return current
}
