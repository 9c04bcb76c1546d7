import { useState } from 'react'

export type Selection = {
  ids: ReadonlySet<string>
  /** All that match, loaded or not. */
  isEverything: boolean
  toggle: (id: string) => void
  /** Selects these, or none if they are selected. */
  toggleAll: (ids: readonly string[]) => void
  selectEverything: () => void
  /** Keeps what is selected but these; of everything that matches nothing is kept. */
  remove: (ids: readonly string[]) => void
  clear: () => void
}

type State = { view: string; ids: ReadonlySet<string>; isEverything: boolean }

/** The selected rows of one view. Another view, that is another tab, search or order, begins without any. */
export function useSelection(view: string): Selection {
  const empty: State = { view, ids: new Set(), isEverything: false }
  const [kept, setKept] = useState(empty)
  const state = kept.view === view ? kept : empty
  const set = (ids: Iterable<string>, isEverything = false) => setKept({ view, ids: new Set(ids), isEverything })
  return {
    ids: state.ids,
    isEverything: state.isEverything,
    toggle: (id) => set(state.ids.has(id) ? [...state.ids].filter((each) => each !== id) : [...state.ids, id]),
    toggleAll: (ids) => set(ids.every((id) => state.ids.has(id)) ? [] : ids),
    selectEverything: () => set(state.ids, true),
    remove: (ids) => set(state.isEverything ? [] : [...state.ids].filter((each) => !ids.includes(each))),
    clear: () => set([]),
  }
}
