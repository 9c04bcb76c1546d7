/** One step: why it is in its state, its input, output, attempts and items, and what may be done with it. */
import { ActionIcon, Alert, Button, Group, List, Stack, Tabs, Text, Title, Tooltip } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { basePath } from '@/app/base'
import { duration, exactTime } from '@/format/dates'
import { visible, visibleLines } from '@/format/text'
import { Loading } from '@/kit/Loading'
import { Id } from '@/kit/Values'
import { Trouble } from '@/kit/Trouble'
import { reasonWords } from '@/texts/reasons'

import { type Action, type StepDetail, stepQuery } from '../queries'
import { type Panel, PANELS } from '../search'
import { StatusBadge } from '../states'
import { AnswerForm } from './AnswerForm'
import { ChangeDialog, type Change } from './ChangeDialog'
import { ItemsView } from './ItemsView'
import { QuestionLink, questionOf, useQuestions } from './QuestionLink'
import classes from './StepPanel.module.css'
import { ValueView } from './ValueView'

type Props = {
  runId: string
  stepId: string
  /** Changes with the step. */
  version: string
  /** The part that is shown. */
  panel: Panel
  onPanel: (panel: Panel) => void
  /** Asks to run the step again, with all that follows it. */
  onRerun: (stepId: string) => void
  onClose: () => void
}

export function StepPanel({ runId, stepId, version, panel, onPanel, onRerun, onClose }: Props) {
  const { t } = useTranslation()
  const found = useQuery(stepQuery(runId, stepId, version))
  const detail = found.data?.step.step_id === stepId ? found.data : undefined
  return (
    <aside className={classes.panel} aria-label={t('runs.step.label', { step: stepId })}>
      <Group justify="space-between" wrap="nowrap" align="flex-start" className={classes.head}>
        <div className={classes.names}>
          <Title order={2} className={classes.title}>
            {visible(detail?.step.title || stepId)}
          </Title>
          <Id value={stepId} />
        </div>
        <ActionIcon onClick={onClose} aria-label={t('runs.step.close')}>
          <IconX size={16} />
        </ActionIcon>
      </Group>
      <div className={classes.body}>
        {detail && (
          <Details key={stepId} runId={runId} detail={detail} panel={panel} onPanel={onPanel} onRerun={onRerun} />
        )}
        {!detail && found.error && <Trouble error={found.error} retry={() => void found.refetch()} />}
        {!detail && !found.error && <Loading height={180} />}
      </div>
    </aside>
  )
}

type DetailsProps = Pick<Props, 'runId' | 'panel' | 'onPanel' | 'onRerun'> & { detail: StepDetail }

function Details({ runId, detail, panel, onPanel, onRerun }: DetailsProps) {
  const { t } = useTranslation()
  const [change, setChange] = useState<Change>()
  const { step, explanation } = detail
  const seconds = step.started_at !== null && step.ended_at !== null ? step.ended_at - step.started_at : undefined
  const urls = `${basePath}/v1/runs/${encodeURIComponent(runId)}/steps/${encodeURIComponent(step.step_id)}`
  const may = (name: string) => detail.actions.some((action) => action.name === name && action.allowed)
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <StatusBadge status={step.status} />
        <Text size="xs" c="dimmed">
          {[
            step.handler ?? t(`runs.kind.${step.kind}`),
            seconds !== undefined && duration(seconds),
            step.attempts > 0 && t('runs.attempts', { count: step.attempts }),
          ]
            .filter(Boolean)
            .join(' · ')}
        </Text>
      </Group>
      {explanation.error && (
        <Alert color="red" variant="light" p="xs" title={explanation.error.type}>
          <Text size="sm" className={classes.message}>
            {visibleLines(explanation.error.message)}
          </Text>
        </Alert>
      )}
      <StepActions actions={detail.actions} onChange={setChange} />
      {may('rerun') && (
        <Group>
          <Button variant="default" onClick={() => onRerun(step.step_id)}>
            {t('runs.rerun.fromHere')}
          </Button>
        </Group>
      )}
      {may('answer') && <Answer runId={runId} step={step} />}
      <Tabs
        value={panel === 'items' && !explanation.items ? 'why' : panel}
        keepMounted={false}
        onChange={(value) => onPanel(PANELS.find((each) => each === value) ?? 'why')}
      >
        <Tabs.List>
          <Tabs.Tab value="why">{t('runs.step.why')}</Tabs.Tab>
          {explanation.items && <Tabs.Tab value="items">{t('runs.step.items')}</Tabs.Tab>}
          <Tabs.Tab value="input">{t('runs.step.input')}</Tabs.Tab>
          <Tabs.Tab value="output">{t('runs.step.output')}</Tabs.Tab>
          <Tabs.Tab value="attempts">{t('runs.step.attempts')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="why" pt="sm">
          <List size="sm" spacing={4}>
            {explanation.words?.map((line) => (
              <List.Item key={line} className={classes.message}>
                {visibleLines(line)}
              </List.Item>
            ))}
          </List>
        </Tabs.Panel>
        <Tabs.Panel value="items" pt="sm">
          <ItemsView runId={runId} stepId={step.step_id} actions={detail.actions} onChange={setChange} />
        </Tabs.Panel>
        <Tabs.Panel value="input" pt="sm">
          {detail.edited && (
            <Text size="xs" mb={4}>
              {t('runs.step.edited')}
            </Text>
          )}
          {detail.input ? (
            <ValueView
              label={t('runs.step.input')}
              value={detail.input}
              download={`${urls}/input`}
              fileName={`${step.step_id}-input.json`}
            />
          ) : (
            <Text size="sm" c="dimmed">
              {detail.input_problem}
            </Text>
          )}
        </Tabs.Panel>
        <Tabs.Panel value="output" pt="sm">
          {detail.output ? (
            <ValueView
              label={t('runs.step.output')}
              value={detail.output}
              download={`${urls}/output`}
              fileName={`${step.step_id}-output.json`}
            />
          ) : (
            <Text size="sm" c="dimmed">
              {detail.output_problem || t('runs.step.noOutput')}
            </Text>
          )}
        </Tabs.Panel>
        <Tabs.Panel value="attempts" pt="sm">
          <Attempts detail={detail} />
        </Tabs.Panel>
      </Tabs>
      {change && <ChangeDialog runId={runId} detail={detail} change={change} onClose={() => setChange(undefined)} />}
    </Stack>
  )
}

/** People answer a question on its page; programs and operators answer other waits with JSON. */
function Answer({ runId, step }: { runId: string; step: StepDetail['step'] }) {
  const questions = useQuestions(runId, step.kind === 'human')
  const question = questions && questionOf(questions, runId, step.step_id)
  if (step.kind === 'human' && question) {
    return (
      <Group>
        <QuestionLink question={question} />
      </Group>
    )
  }
  return step.kind === 'human' && questions === undefined ? null : <AnswerForm runId={runId} stepId={step.step_id} />
}

const CHANGES = ['retry', 'edit', 'skip', 'output'] as const

function StepActions({ actions, onChange }: { actions: Action[]; onChange: (change: Change) => void }) {
  const { t, i18n } = useTranslation()
  const refusal = ({ reason, reason_code: code }: Action) =>
    reasonWords({ code, message: reason }, t, i18n.language, 'runs.refused').title
  const offered = CHANGES.flatMap((name) =>
    actions.filter((action) => action.name === name).map((action) => ({ ...action, name })),
  )
  if (offered.every((action) => !action.allowed)) return null
  return (
    <Group gap={6}>
      {offered.map((action) => (
        <Tooltip key={action.name} label={refusal(action)} disabled={action.allowed}>
          <Button
            variant={action.name === 'retry' ? 'filled' : 'default'}
            data-disabled={!action.allowed || undefined}
            aria-disabled={!action.allowed}
            onClick={() => action.allowed && onChange({ kind: action.name })}
          >
            {t(`runs.change.${action.name}`)}
          </Button>
        </Tooltip>
      ))}
    </Group>
  )
}

function Attempts({ detail }: { detail: StepDetail }) {
  const { t } = useTranslation()
  const { attempts } = detail.explanation
  const { started_at: started, ended_at: ended } = detail.step
  return (
    <Stack gap="xs">
      {attempts && <Text size="sm">{t('runs.step.made', { made: attempts.made, most: attempts.most })}</Text>}
      {!attempts && (
        <Text size="sm" c="dimmed">
          {t('runs.step.noAttempts')}
        </Text>
      )}
      {attempts?.worker && (
        <Text size="xs" c="dimmed">
          {t('runs.step.worker', { worker: attempts.worker })}
        </Text>
      )}
      {attempts?.earlier?.map((each) => (
        <div key={`${each.attempt} ${each.item}`} className={classes.attempt}>
          <Text size="xs" fw={600}>
            {t('runs.step.attempt', { attempt: each.attempt })} {each.item}
          </Text>
          <Text size="sm" className={classes.message}>
            {each.error.type}: {visibleLines(each.error.message)}
          </Text>
        </div>
      ))}
      {attempts?.last_error && (
        <div className={classes.attempt}>
          <Text size="xs" fw={600}>
            {t('runs.step.lastAttempt')}
          </Text>
          <Text size="sm" className={classes.message}>
            {attempts.last_error.type}: {visibleLines(attempts.last_error.message)}
          </Text>
        </div>
      )}
      {started !== null && (
        <Text size="xs" c="dimmed">
          {t('runs.step.from', { time: exactTime(iso(started)) })}
        </Text>
      )}
      {ended !== null && (
        <Text size="xs" c="dimmed">
          {t('runs.step.until', { time: exactTime(iso(ended)) })}
        </Text>
      )}
    </Stack>
  )
}

function iso(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
