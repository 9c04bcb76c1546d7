/** Puts look-alikes together: documents with the same bytes, or with the same vendor and number. */
import type { Row } from './queries'

export type Line = {
  row: Row
  /** The number of documents below this one that look like it. */
  alike: number
  /** Whether it stands below the one that it looks like. */
  isBelow: boolean
}

/** The rows in their order, but each look-alike directly below the first row of its group. */
export function grouped(rows: readonly Row[]): Line[] {
  const groups = new Map<string, Row[]>()
  const shown = new Set(rows.map((row) => row.document_id))
  for (const row of rows) {
    // Its group is named by the earliest document, which may be in another tab.
    const name = row.look_alike_of ?? row.document_id
    const group = groups.get(name)
    if (group) group.push(row)
    else groups.set(name, [row])
  }
  return [...groups.entries()].flatMap(([name, group]) => {
    const first = shown.has(name) ? (group.find((row) => row.document_id === name) ?? group[0]) : group[0]
    return group
      .toSorted((a, b) => Number(b === first) - Number(a === first))
      .map((row, index) => ({ row, alike: index === 0 ? group.length - 1 : 0, isBelow: index > 0 }))
  })
}
