/** The steps of a run as a virtual list, also for what a search has found. */
import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { duration } from '@/format/dates'
import { visible } from '@/format/text'
import { Trouble } from '@/kit/Trouble'

import type { StepLine } from '../queries'
import { StatusBadge } from '../states'
import { RowList } from './RowList'
import classes from './StepsView.module.css'

type Props = {
  page: Model<'StepPage'> | undefined
  error: Error | null
  selected: string | undefined
  onSelect: (step: StepLine) => void
}

const ROW = 44

export function StepsView({ page, error, selected, onSelect }: Props) {
  const { t } = useTranslation()
  const steps = page?.steps ?? []
  if (error && !page)
    return (
      <div className={classes.trouble}>
        <Trouble error={error} />
      </div>
    )
  if (page && steps.length === 0)
    return (
      <Text p="md" c="dimmed">
        {t('runs.steps.none')}
      </Text>
    )
  return (
    <RowList
      rows={steps}
      height={ROW}
      label={t('runs.view.steps')}
      idOf={(step) => step.step_id}
      selected={selected}
      onSelect={onSelect}
    >
      {(step) => (
        <>
          <span className={classes.status}>
            <StatusBadge status={step.status} />
          </span>
          <span className={classes.name}>
            <span className={classes.title}>{visible(step.title || step.step_id)}</span>
            <span className={classes.detail}>
              {[
                step.title && step.step_id,
                step.handler ?? t(`runs.kind.${step.kind}`),
                step.error && visible(`${step.error.type}: ${step.error.message}`),
              ]
                .filter(Boolean)
                .join(' · ')}
            </span>
          </span>
          <span className={classes.numbers}>
            {step.items && t('runs.graph.items', { done: step.items.completed, total: step.items.total })}{' '}
            {step.started_at !== null && step.ended_at !== null && duration(step.ended_at - step.started_at)}
          </span>
        </>
      )}
    </RowList>
  )
}
