import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef } from 'react'

import classes from './RowList.module.css'

type Props<Row> = {
  rows: readonly Row[]
  height: number
  label: string
  idOf: (row: Row) => string
  selected: string | undefined
  onSelect: (row: Row) => void
  /** What a row shows. */
  children: (row: Row) => ReactNode
}

/** Steps to choose from, one below the other. Only the rows in view are mounted; the selected one is in view. */
export function RowList<Row>({ rows, height, label, idOf, selected, onSelect, children }: Props<Row>) {
  const scroller = useRef<HTMLDivElement>(null)
  // oxlint-disable-next-line react/incompatible-library -- the compiler leaves this component as it is
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 12,
  })
  const at = rows.findIndex((row) => idOf(row) === selected)
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' })
  }, [at, virtual])
  return (
    <div ref={scroller} className={classes.rows} role="group" aria-label={label}>
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index]
          return (
            row && (
              <button
                key={idOf(row)}
                type="button"
                className={classes.row}
                data-selected={index === at || undefined}
                style={{ transform: `translateY(${start}px)`, height }}
                onClick={() => onSelect(row)}
              >
                {children(row)}
              </button>
            )
          )
        })}
      </div>
    </div>
  )
}
