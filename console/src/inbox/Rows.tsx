import { Checkbox, Loader } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'

import { focusWanted, rowId } from './focus'
import type { Line } from './grouping'
import { keepPlace, placeIn } from './places'
import { RowLine } from './RowLine'
import classes from './Rows.module.css'
import type { InboxSearch } from './search'
import { useNow } from './use_now'

type Props = {
  lines: readonly Line[]
  /** All that match, loaded or not. */
  total: number
  /** Names this view: where the person was in it is kept. */
  view: string
  search: InboxSearch
  active: number
  onActive: (index: number) => void
  selected: ReadonlySet<string>
  onSelect: (documentId: string) => void
  /** Selects all that are loaded, or none. Absent where nothing can be done with many. */
  onSelectAll?: () => void
  hasMore: boolean
  isLoadingMore: boolean
  onMore: () => void
}

const ROW = 44
const CARD = 76
const AHEAD = 30
const COLUMNS = ['file', 'vendor', 'number', 'date', 'total', 'due', 'reason', 'confidence', 'holder'] as const

/** The documents of a view as a table of which only the visible rows are mounted. */
export function Rows(props: Props) {
  const { lines, total, view, active, selected, onSelectAll, hasMore, isLoadingMore, onMore } = props
  const { t } = useTranslation()
  const box = useRef<HTMLDivElement>(null)
  const isNarrow = matchMedia('(max-width: 48em)').matches
  const now = useNow()
  // oxlint-disable-next-line react/incompatible-library -- its values go to no memoized component
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => (isNarrow ? CARD : ROW),
    overscan: 12,
    initialOffset: placeIn(view)?.offset ?? 0,
    getItemKey: (index) => lines[index]?.row.document_id ?? index,
  })
  const mounted = virtual.getVirtualItems()
  const last = mounted.at(-1)?.index ?? 0
  useEffect(focusWanted, [])
  useEffect(() => {
    if (hasMore && last >= lines.length - AHEAD) onMore()
  }, [hasMore, last, lines.length, onMore])
  useEffect(() => {
    if (active >= 0) virtual.scrollToIndex(active, { align: 'auto' })
  }, [active, virtual])
  useEffect(() => {
    const documentId = lines[active]?.row.document_id
    const offset = virtual.scrollOffset ?? 0
    keepPlace(view, { active: documentId ? { id: documentId, index: active } : undefined, offset })
  })
  const activeId = lines[active] && rowId(lines[active].row.document_id)
  return (
    <div
      ref={box}
      className={classes.box}
      role="grid"
      tabIndex={0}
      aria-label={t('inbox.rows')}
      aria-rowcount={total + 1}
      aria-multiselectable={onSelectAll ? true : undefined}
      aria-activedescendant={activeId}
      data-inbox-rows
    >
      <div className={classes.head} role="row" aria-rowindex={1}>
        <span role="columnheader" className={classes.check}>
          {onSelectAll && (
            <Checkbox
              size="xs"
              aria-label={t('inbox.selectAll')}
              checked={lines.length > 0 && selected.size >= lines.length}
              indeterminate={selected.size > 0 && selected.size < lines.length}
              onChange={onSelectAll}
            />
          )}
        </span>
        {COLUMNS.map((column) => (
          <span key={column} role="columnheader" data-column={column}>
            {t(`inbox.columns.${column}`)}
          </span>
        ))}
      </div>
      <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {mounted.map(({ index, start, size, key }) => {
          const line = lines[index]
          return (
            line && (
              <RowLine
                key={key}
                {...props}
                now={now}
                line={line}
                index={index}
                place={{ height: size, transform: `translateY(${start}px)` }}
              />
            )
          )
        })}
      </div>
      {isLoadingMore && (
        <div className={classes.more}>
          <Loader size="xs" role="status" aria-label={t('app.loading')} />
        </div>
      )}
    </div>
  )
}
