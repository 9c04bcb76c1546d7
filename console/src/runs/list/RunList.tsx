/** The rows of runs: only those in view are in the page; the next page is loaded before the end is reached. */
import { Checkbox, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'

import { duration } from '@/format/dates'
import { Name, Time } from '@/kit/Values'

import type { Run } from '../queries'
import { StatusBadge } from '../states'
import classes from './RunList.module.css'

type Props = {
  runs: readonly Run[]
  current: number
  selected: ReadonlySet<string>
  maySelect: boolean
  onSelect: (run: Run) => void
  onSelectAll: (all: boolean) => void
  onEnd: () => void
}

const ROW = 40
const BEFORE_END = 20

export function RunList({ runs, current, selected, maySelect, onSelect, onSelectAll, onEnd }: Props) {
  const { t } = useTranslation()
  const scroller = useRef<HTMLDivElement>(null)
  // oxlint-disable-next-line react/incompatible-library -- the compiler leaves this component as it is
  const rows = useVirtualizer({
    count: runs.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  })
  const items = rows.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (runs.length > 0 && last >= runs.length - BEFORE_END) onEnd()
  }, [last, runs.length, onEnd])
  useEffect(() => {
    if (current > 0) rows.scrollToIndex(current, { align: 'auto' })
  }, [current, rows])
  return (
    <div className={classes.table} role="table" aria-label={t('runs.title')} aria-rowcount={runs.length + 1}>
      <div role="rowgroup">
        <div className={classes.head} role="row" aria-rowindex={1}>
          <span role="columnheader" className={classes.check}>
            {maySelect && (
              <Checkbox
                size="xs"
                aria-label={t('runs.selectAll')}
                checked={runs.length > 0 && selected.size === runs.length}
                indeterminate={selected.size > 0 && selected.size < runs.length}
                onChange={(event) => onSelectAll(event.currentTarget.checked)}
              />
            )}
          </span>
          <span role="columnheader" className={classes.status}>
            {t('runs.filter.status')}
          </span>
          <span role="columnheader" className={classes.name}>
            {t('runs.one')}
          </span>
          <span role="columnheader" className={classes.definition}>
            {t('runs.filter.definition')}
          </span>
          <span role="columnheader" className={classes.time}>
            {t('runs.column.started')}
          </span>
          <span role="columnheader" className={classes.length}>
            {t('runs.column.took')}
          </span>
        </div>
      </div>
      <div ref={scroller} className={classes.rows} role="rowgroup" tabIndex={-1}>
        <div style={{ height: rows.getTotalSize(), position: 'relative' }} role="presentation">
          {items.map((item) => {
            const run = runs[item.index]
            if (!run) return null
            return (
              <div
                key={run.run_id}
                role="row"
                aria-rowindex={item.index + 2}
                aria-current={item.index === current || undefined}
                data-list-row
                className={classes.row}
                data-selected={selected.has(run.run_id) || undefined}
                style={{ transform: `translateY(${item.start}px)`, height: ROW }}
              >
                <span role="cell" className={classes.check}>
                  {maySelect && (
                    <Checkbox
                      size="xs"
                      aria-label={t('runs.select', { run: run.run_id })}
                      checked={selected.has(run.run_id)}
                      onChange={() => onSelect(run)}
                    />
                  )}
                </span>
                <span role="cell" className={classes.status}>
                  <StatusBadge status={run.status} />
                </span>
                <span role="cell" className={classes.name}>
                  <Link to="/runs/$runId" params={{ runId: run.run_id }} className={classes.link}>
                    {run.run_id}
                  </Link>
                  {run.file_name && (
                    <Text span size="xs" c="dimmed" className={classes.file}>
                      {' '}
                      <Name value={run.file_name} most={40} />
                    </Text>
                  )}
                  {run.overdue && (
                    <Text span size="xs" c="red">
                      {' '}
                      {t('runs.overdue')}
                    </Text>
                  )}
                  {run.attempts > 1 && (
                    <Text span size="xs" c="dimmed">
                      {' '}
                      {t('runs.attempts', { count: run.attempts })}
                    </Text>
                  )}
                </span>
                <span role="cell" className={classes.definition}>
                  {run.definition_id} · {t('runs.version', { version: run.version })}
                </span>
                <span role="cell" className={classes.time}>
                  <Time value={run.started_at} />
                </span>
                <span role="cell" className={classes.length}>
                  {run.ended_at && duration((Date.parse(run.ended_at) - Date.parse(run.started_at)) / 1000)}
                </span>
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}
