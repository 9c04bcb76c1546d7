/** The row of a list on which its keys act. It stays the same document, run or question while others come and go. */

/** A row, and its place when it became the current one. */
export type Current = { id: string; index: number }

/** The place of the current row now. If the row has left the list, the one that took its place is current. */
export function placeOf({ id, index }: Current, ids: readonly string[]): number {
  const found = ids.indexOf(id)
  return found >= 0 ? found : Math.min(index, ids.length - 1)
}

/** The row that is `by` rows further, in the list. */
export function moved(from: number, by: number, ids: readonly string[]): Current | undefined {
  const index = Math.max(0, Math.min(from + by, ids.length - 1))
  const id = ids[index]
  return id === undefined ? undefined : { id, index }
}
