/** When each step ran: a bar for each, in a virtual list. */
import { Text } from '@mantine/core'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'

import { duration } from '@/format/dates'
import { visible } from '@/format/text'

import type { StepLine } from '../queries'
import { StatusIcon } from '../states'
import { RowList } from './RowList'
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
  const timeline = useMemo(() => timelineOf(steps, now), [steps, now])
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
      <RowList
        rows={timeline.bars}
        height={ROW}
        label={t('runs.timeline.label')}
        idOf={({ step }) => step.step_id}
        selected={selected}
        onSelect={({ step }) => onSelect(step.step_id)}
      >
        {({ step, left, width, seconds }) => (
          <>
            <span className={classes.name}>
              <StatusIcon status={step.status} /> {visible(step.title || step.step_id)}
              <span className={classes.hidden}>{t(`runs.status.${step.status}`)}</span>
            </span>
            <span className={classes.track}>
              <span
                className={classes.bar}
                data-status={step.status}
                style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
              />
              <Length left={left} right={left + width}>
                {duration(seconds)}
              </Length>
            </span>
          </>
        )}
      </RowList>
      {timeline.notStarted > 0 && (
        <Text size="xs" c="dimmed" p={8}>
          {t('runs.timeline.notStarted', { count: timeline.notStarted })}
        </Text>
      )}
    </div>
  )
}

type LengthProps = { left: number; right: number; children: string }

/** How long a step took: after its bar, before a bar that ends at the edge, and in one that has room at neither end. */
function Length({ left, right, children }: LengthProps) {
  const isInside = right > 0.85 && left < 0.2
  const before = { right: `${(1 - (isInside ? right : left)) * 100}%` }
  return (
    <span
      className={classes.length}
      data-inside={isInside || undefined}
      style={right > 0.85 ? before : { left: `${right * 100}%` }}
    >
      {children}
    </span>
  )
}
