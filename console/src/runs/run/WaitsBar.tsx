/** What a run waits for, who can answer, and until when. */
import { Anchor, Stack, Text } from '@mantine/core'
import { IconClockPause } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { time } from '@/format/dates'
import { visible } from '@/format/text'

import { waitsQuery } from '../queries'
import { QuestionLink, questionOf, useQuestions } from './QuestionLink'
import classes from './WaitsBar.module.css'

type Wait = Model<'OpenWait'>

const SHOWN = 3

export function WaitsBar({
  runId,
  version,
  onStep,
}: {
  runId: string
  version: string
  onStep: (step: string) => void
}) {
  const { t } = useTranslation()
  const found = useQuery(waitsQuery(runId, version))
  const waits = found.data?.waits ?? []
  const questions = useQuestions(
    runId,
    waits.some((wait) => wait.waiting?.waits_for === 'human'),
  )
  if (waits.length === 0) return null
  return (
    <section className={classes.waits} aria-label={t('runs.waits.label')}>
      <IconClockPause size={18} aria-hidden />
      <Stack gap={2}>
        {waits.slice(0, SHOWN).map((wait) => (
          <Text key={`${wait.run_id} ${wait.step_id}`} size="sm">
            <Anchor
              component="button"
              type="button"
              inherit
              fw={600}
              onClick={() => onStep(wait.outer_step_id ?? wait.step_id)}
            >
              {visible(wait.waiting?.asks ?? (wait.title || wait.step_id))}
            </Anchor>{' '}
            {wordsOf(wait, t)} <LinkOf wait={wait} questions={questions ?? []} />
          </Text>
        ))}
        {waits.length > SHOWN && (
          <Text size="xs" c="dimmed">
            {t('runs.waits.more', { count: waits.length - SHOWN })}
          </Text>
        )}
      </Stack>
    </section>
  )
}

function LinkOf({ wait, questions }: { wait: Wait; questions: Model<'Review'>[] }) {
  const isAsked = wait.waiting?.waits_for === 'human'
  const question = isAsked ? questionOf(questions, wait.run_id, wait.step_id) : undefined
  return question && <QuestionLink question={question} isCompact />
}

function wordsOf({ waiting }: Wait, t: TFunction): string {
  if (!waiting) return t('runs.waits.parked')
  const who = {
    human: waiting.group
      ? t('runs.waits.group', { queue: waiting.queue, group: waiting.group })
      : t('runs.waits.human', { queue: waiting.queue }),
    signal: t('runs.waits.signal'),
    webhook: t('runs.waits.webhook'),
    timer: t('runs.waits.timer'),
  }[waiting.waits_for]
  return [
    who,
    (waiting.approvals_needed ?? 1) > 1 && t('runs.waits.approvals', { count: waiting.approvals_missing }),
    waiting.not_the_submitter && t('runs.waits.notTheSubmitter'),
    waiting.until && t('runs.waits.until', { time: time(new Date(waiting.until * 1000).toISOString()) }),
  ]
    .filter(Boolean)
    .join(' · ')
}
