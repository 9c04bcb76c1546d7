/** When each step ran: a bar for each, in a virtual list. */
import { Text } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef } from 'react'
import { useTranslation } from 'react-i18next'

import { duration } from '@/format/dates'

import type { StepLine } from '../queries'
import { StatusIcon } from '../states'
import { timelineOf } from './timeline'
import classes from './TimelineView.module.css'

type Props = {
  steps: readonly StepLine[]
  now: number
  selected: string | undefined
  onSelect: (step: string) => void
}

const ROW = 30

export function TimelineView({ steps, now, selected, onSelect }: Props) {
  const { t } = useTranslation()
  const scroller = useRef<HTMLDivElement>(null)
  const timeline = useMemo(() => timelineOf(steps, now), [steps, now])
  // oxlint-disable-next-line react/incompatible-library -- the compiler leaves this component as it is
  const rows = useVirtualizer({
    count: timeline.bars.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  })
  if (timeline.bars.length === 0)
    return (
      <Text p="md" c="dimmed">
        {t('runs.timeline.empty')}
      </Text>
    )
  return (
    <div className={classes.timeline}>
      <div className={classes.scale} aria-hidden>
        {timeline.ticks.map((tick) => (
          <span key={tick.seconds} style={{ left: `${tick.left * 100}%` }}>
            {tick.seconds === 0 ? '0' : duration(tick.seconds)}
          </span>
        ))}
      </div>
      <div ref={scroller} className={classes.rows} role="group" aria-label={t('runs.timeline.label')}>
        <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
          {rows.getVirtualItems().map((row) => {
            const bar = timeline.bars[row.index]
            if (!bar) return null
            const { step } = bar
            const left = `${bar.left * 100}%`
            return (
              <button
                key={step.step_id}
                type="button"
                className={classes.row}
                data-selected={step.step_id === selected || undefined}
                style={{ transform: `translateY(${row.start}px)`, height: ROW }}
                onClick={() => onSelect(step.step_id)}
              >
                <span className={classes.name}>
                  <StatusIcon status={step.status} /> {step.title || step.step_id}
                  <span className={classes.hidden}>{t(`runs.status.${step.status}`)}</span>
                </span>
                <span className={classes.track}>
                  <span
                    className={classes.bar}
                    data-status={step.status}
                    style={{ left, width: `${bar.width * 100}%` }}
                  />
                  <span
                    className={classes.length}
                    style={
                      bar.left + bar.width > 0.85
                        ? { right: `${(1 - bar.left) * 100}%` }
                        : { left: `${(bar.left + bar.width) * 100}%` }
                    }
                  >
                    {duration(bar.seconds)}
                  </span>
                </span>
              </button>
            )
          })}
        </div>
      </div>
      {timeline.notStarted > 0 && (
        <Text size="xs" c="dimmed" p={8}>
          {t('runs.timeline.notStarted', { count: timeline.notStarted })}
        </Text>
      )}
    </div>
  )
}
