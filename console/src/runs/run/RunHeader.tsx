/** A run at a glance: its state, how far it is, what may be done with it. */
import { ActionIcon, Anchor, Badge, Button, Group, Menu, Progress, Text, Title } from '@mantine/core'
import { IconAlarm, IconDots, IconExternalLink } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import { duration, exactTime } from '@/format/dates'
import { count } from '@/format/numbers'
import { visibleLines } from '@/format/text'
import { Name } from '@/kit/Values'
import { reasonWords } from '@/texts/reasons'

import type { RunAction } from '../actions'
import type { RunHead } from '../queries'
import { colourOf, StatusBadge, StatusIcon, type StepStatus } from '../states'
import classes from './RunHeader.module.css'

type Props = { run: RunHead; now: number; onAct: (action: RunAction) => void }

/** In this order; the first allowed ones are buttons, the others wait in the menu. */
const ORDER: readonly RunAction[] = ['resume', 'retry', 'rerun', 'pause', 'undo', 'cancel', 'abort']
const BUTTONS: ReadonlySet<RunAction> = new Set(['resume', 'retry', 'rerun', 'pause'])
const PLAIN: ReadonlySet<RunAction> = new Set(['rerun', 'pause'])

/** What is settled comes first, so that the bar fills from its beginning. */
const BY_PROGRESS: readonly StepStatus[] = [
  'completed',
  'skipped',
  'failed',
  'cancelled',
  'parked',
  'waiting',
  'running',
  'queued',
  'pending',
]

export function RunHeader({ run, now, onAct }: Props) {
  const { t } = useTranslation()
  const seconds = run.started_at === null ? undefined : (run.ended_at ?? now) - run.started_at
  return (
    <header className={classes.header}>
      <Group justify="space-between" gap="sm" wrap="nowrap" align="flex-start">
        <div className={classes.names}>
          <Group gap="xs" wrap="wrap">
            <StatusBadge status={run.status} />
            {run.stopping && (
              <Badge color="orange" c="var(--mantine-color-text)">
                {t('runs.stopping')}
              </Badge>
            )}
            {run.overdue && (
              <Badge color="red" c="var(--mantine-color-text)" leftSection={<IconAlarm size={13} aria-hidden />}>
                {t('runs.overdue')}
              </Badge>
            )}
            <Title order={1} className={classes.title}>
              {run.run_id}
            </Title>
          </Group>
          <Group gap={6} className={classes.facts}>
            <span>
              {run.definition_id} · {t('runs.version', { version: run.version })}
            </span>
            {run.document_id && (
              <Anchor
                inherit
                component={Link}
                to="/documents/$documentId"
                params={{ documentId: run.document_id } as never}
              >
                {run.file_name ? <Name value={run.file_name} most={40} /> : t('runs.document')}
              </Anchor>
            )}
            {run.outer_run_id && (
              <Anchor inherit component={Link} to="/runs/$runId" params={{ runId: run.outer_run_id } as never}>
                {t('runs.outer')}
              </Anchor>
            )}
            {run.started_at !== null && (
              <span title={exactTime(new Date(run.started_at * 1000).toISOString())}>
                {t('runs.took', { duration: duration(Math.max(seconds ?? 0, 0)) })}
              </span>
            )}
            {run.history_url && (
              <Anchor inherit href={run.history_url} target="_blank" rel="noreferrer">
                {t('runs.history')} <IconExternalLink size={12} aria-hidden />
              </Anchor>
            )}
          </Group>
        </div>
        <Actions run={run} onAct={onAct} />
      </Group>
      <Steps run={run} />
      {run.reason && (
        <Text size="sm" className={classes.reason}>
          {visibleLines(run.reason)}
        </Text>
      )}
    </header>
  )
}

function Actions({ run, onAct }: Omit<Props, 'now'>) {
  const { t, i18n } = useTranslation()
  const actions = ORDER.flatMap((name) =>
    run.actions.filter((action) => action.name === name).map((action) => ({ ...action, name })),
  )
  const buttons = actions.filter(({ name, allowed }) => allowed && BUTTONS.has(name))
  return (
    <Group gap={6} wrap="nowrap">
      {buttons.map(({ name }) => (
        <Button
          key={name}
          variant={PLAIN.has(name) ? 'default' : 'filled'}
          onClick={() => onAct(name)}
          visibleFrom="xs"
        >
          {t(`runs.do.${name}`)}
        </Button>
      ))}
      <Menu position="bottom-end" width={300}>
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label={t('runs.more')}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {actions.map(({ name, allowed, reason: message, reason_code: code }) => (
            <Menu.Item key={name} disabled={!allowed} onClick={() => onAct(name)}>
              {t(`runs.do.${name}`)}
              {!allowed && (
                <Text size="xs" c="dimmed">
                  {reasonWords({ code, message }, t, i18n.language, 'runs.refused').title}
                </Text>
              )}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </Group>
  )
}

function Steps({ run }: { run: RunHead }) {
  const { t } = useTranslation()
  const counts = BY_PROGRESS.flatMap((status) => {
    const number = run.counts[status]
    return number === undefined ? [] : [[status, number] as const]
  })
  if (counts.length === 0) return null
  return (
    <Group gap="sm" className={classes.progress}>
      <Progress.Root size={6} className={classes.bar} aria-hidden>
        {counts.map(([status, number]) => (
          <Progress.Section
            key={status}
            value={(100 * number) / run.steps}
            color={status === 'pending' ? 'transparent' : colourOf(status)}
            aria-hidden
          />
        ))}
      </Progress.Root>
      <Text size="xs" c="dimmed">
        {t('runs.settled', { settled: count(run.settled), steps: count(run.steps) })}
      </Text>
      <Group gap="xs">
        {counts.map(([status, number]) => (
          <Text key={status} size="xs" span className={classes.count}>
            <StatusIcon status={status} size={12} /> {count(number)} {t(`runs.status.${status}`)}
          </Text>
        ))}
      </Group>
    </Group>
  )
}
