/** Puts look-alikes together: documents with the same bytes, or with the same vendor and number. */
import type { Row } from './queries'

export type Line = {
  row: Row
  /** The number of documents below this one that look like it. */
  alike: number
  /** Whether it stands below one that it looks like. */
  isBelow: boolean
}

/**
 * The rows in their order, but each look-alike directly below the first row of its group. The first one keeps its place,
 * also if it came later than the others. Whoever opens one and goes on follows the same order (services/inbox/repository.py).
 */
export function grouped(rows: readonly Row[]): Line[] {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    // Its group is named by the earliest document, which may be in another tab.
    const name = row.look_alike_of ?? row.document_id
    const group = groups.get(name)
    if (group) group.push(row)
    else groups.set(name, [row])
  }
  return [...groups.values()].flatMap((group) =>
    group.map((row, index) => ({ row, alike: index === 0 ? group.length - 1 : 0, isBelow: index > 0 })),
  )
}
