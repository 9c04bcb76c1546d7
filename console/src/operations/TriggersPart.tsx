/** What starts runs by itself: at times, or for the files of a watched folder or a mailbox. */
import { Anchor, Button, Group, Table, Text, TextInput } from '@mantine/core'
import { IconBolt, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { keys } from '@/api/keys'
import { useMay } from '@/api/me'
import { visible } from '@/format/text'
import { Empty } from '@/kit/Empty'
import { notifyProblem } from '@/kit/notify'
import { Name, Time } from '@/kit/Values'

import { DataTable, useActionsColumn } from './DataTable'
import { FormDialog } from './FormDialog'
import classes from './Operations.module.css'
import { Activity, interval, LastPass } from './passes'
import { deleteTrigger, fireTrigger, switchTrigger, type Trigger, triggersQuery, useChange } from './queries'
import { TriggerDialog } from './TriggerDialog'

type Asked = { trigger: Trigger; action: 'switch' | 'delete' } | { action: 'create' }

export function TriggersPart() {
  const { t } = useTranslation()
  const found = useQuery(triggersQuery)
  const [asked, setAsked] = useState<Asked>()
  const triggers = found.data?.triggers ?? []
  const close = () => setAsked(undefined)
  const mayStart = useMay('submit')
  const create = mayStart && found.data?.allowed && (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setAsked({ action: 'create' })}>
      {t('operations.triggers.create')}
    </Button>
  )
  return (
    <>
      {triggers.length > 0 && create && <Group justify="flex-end">{create}</Group>}
      <DataTable
        label={t('operations.triggers.title')}
        minWidth={900}
        found={found}
        isEmpty={triggers.length === 0}
        empty={
          <Empty icon={IconBolt} title={t('operations.triggers.none')} action={create}>
            {t('operations.triggers.noneHint')}
          </Empty>
        }
        columns={[
          { name: t('operations.schedules.state') },
          { name: t('operations.triggers.name') },
          { name: t('operations.triggers.does') },
          { name: t('operations.schedules.next') },
          { name: t('operations.schedules.last') },
          useActionsColumn(),
        ]}
      >
        {triggers.map((trigger) => (
          <TriggerRow
            key={trigger.name}
            trigger={trigger}
            allowed={found.data?.allowed ?? false}
            onAsk={(action) => setAsked({ trigger, action })}
          />
        ))}
      </DataTable>
      {asked?.action === 'create' && <TriggerDialog onClose={close} />}
      {asked?.action === 'switch' && <SwitchDialog trigger={asked.trigger} onClose={close} />}
      {asked?.action === 'delete' && <DeleteDialog trigger={asked.trigger} onClose={close} />}
    </>
  )
}

type RowProps = { trigger: Trigger; allowed: boolean; onAsk: (action: 'switch' | 'delete') => void }

function TriggerRow({ trigger, allowed, onAsk }: RowProps) {
  const { t } = useTranslation()
  const { name } = trigger
  return (
    <Table.Tr>
      <Table.Td>
        <Activity paused={trigger.paused} />
      </Table.Td>
      <Table.Td>
        {name}
        <Text size="xs" c="dimmed">
          {trigger.note ? (
            <Name value={trigger.note} most={100} />
          ) : (
            <>
              {t('operations.triggers.by')} <Name value={trigger.created_by} most={30} />
            </>
          )}
        </Text>
      </Table.Td>
      <Table.Td>
        <Work trigger={trigger} />
      </Table.Td>
      <Table.Td className={classes.line}>
        {trigger.next_at ? <Time value={trigger.next_at} /> : '–'}
        <Text size="xs" c="dimmed">
          {trigger.every_seconds === null
            ? t('operations.triggers.cron', { cron: trigger.cron })
            : t('operations.schedules.every', { time: interval(trigger.every_seconds) })}
        </Text>
      </Table.Td>
      <Table.Td>
        <LastPass last={trigger.last} />
        {trigger.problems.length > 0 && <Problems problems={trigger.problems} />}
      </Table.Td>
      <Table.Td>{allowed && <Actions trigger={trigger} onAsk={onAsk} />}</Table.Td>
    </Table.Tr>
  )
}

const MOST_PROBLEMS = 3

/** What the latest pass has refused, or why it failed. */
function Problems({ problems }: { problems: string[] }) {
  const { t } = useTranslation()
  return (
    <Text size="xs" c="red" component="div">
      {problems.slice(0, MOST_PROBLEMS).map((problem) => (
        <div key={problem}>
          <Name value={problem} most={120} />
        </div>
      ))}
      {problems.length > MOST_PROBLEMS && t('operations.triggers.more', { count: problems.length - MOST_PROBLEMS })}
    </Text>
  )
}

/** What a pass does. */
function Work({ trigger }: { trigger: Trigger }) {
  const { t } = useTranslation()
  const { folder, mailbox, definition } = trigger
  const inputs = JSON.stringify(trigger.inputs)
  const uploads = folder ?? mailbox?.user
  return (
    <>
      {uploads === undefined
        ? t('operations.triggers.starts', { definition })
        : t(folder === null ? 'operations.triggers.reads' : 'operations.triggers.uploads', { of: visible(uploads) })}
      {uploads !== undefined && (
        <Text size="xs" c="dimmed">
          {definition === null ? t('operations.triggers.routed') : t('operations.triggers.readBy', { definition })}{' '}
          {trigger.batch && t('operations.triggers.asBatch')}{' '}
          {trigger.last_batch !== null && (
            <Anchor
              renderRoot={(props) => (
                <Link {...props} to="/batches/$batchId" params={{ batchId: trigger.last_batch }} />
              )}
              underline="always"
              inherit
            >
              {t('operations.triggers.lastBatch')}
            </Anchor>
          )}
        </Text>
      )}
      {inputs !== '{}' && (
        <div className={classes.detail}>
          <Name value={inputs} most={100} />
        </div>
      )}
    </>
  )
}

function Actions({ trigger, onAsk }: Omit<RowProps, 'allowed'>) {
  const { t } = useTranslation()
  const fire = useChange(fireTrigger, keys.triggers.all)
  const mayStart = useMay('submit')
  const { name } = trigger
  return (
    <Group gap={6} wrap="nowrap" justify="flex-end">
      {mayStart && (
        <Button
          variant="default"
          size="compact-xs"
          loading={fire.isPending}
          onClick={() => fire.mutate({ trigger: name }, { onError: notifyProblem })}
          aria-label={t('operations.schedules.runOf', { name })}
        >
          {t('operations.schedules.run')}
        </Button>
      )}
      <Button
        variant="subtle"
        color="gray"
        size="compact-xs"
        onClick={() => onAsk('switch')}
        aria-label={t(trigger.paused ? 'operations.schedules.resumeOf' : 'operations.schedules.pauseOf', { name })}
      >
        {t(trigger.paused ? 'operations.schedules.resume' : 'operations.schedules.pause')}
      </Button>
      <Button
        variant="subtle"
        color="gray"
        size="compact-xs"
        onClick={() => onAsk('delete')}
        aria-label={t('operations.triggers.deleteOf', { name })}
      >
        {t('operations.triggers.delete')}
      </Button>
    </Group>
  )
}

type DialogProps = { trigger: Trigger; onClose: () => void }

function SwitchDialog({ trigger, onClose }: DialogProps) {
  const { t } = useTranslation()
  const [reason, setReason] = useState('')
  const change = useChange(switchTrigger, keys.triggers.all)
  const { name, paused: isPaused } = trigger
  return (
    <FormDialog
      title={t(isPaused ? 'operations.schedules.resumeOf' : 'operations.schedules.pauseOf', { name })}
      means={t(isPaused ? 'operations.schedules.resumeMeans' : 'operations.triggers.pauseMeans')}
      action={t(isPaused ? 'operations.schedules.resume' : 'operations.schedules.pause')}
      change={change}
      onClose={onClose}
      onSubmit={() => change.mutate({ trigger: name, isPaused, reason }, { onSuccess: onClose })}
    >
      <TextInput
        label={t('operations.reason')}
        value={reason}
        maxLength={100}
        onChange={(event) => setReason(event.currentTarget.value)}
        data-autofocus
      />
    </FormDialog>
  )
}

function DeleteDialog({ trigger, onClose }: DialogProps) {
  const { t } = useTranslation()
  const change = useChange(deleteTrigger, keys.triggers.all)
  const { name } = trigger
  return (
    <FormDialog
      title={t('operations.triggers.deleteOf', { name })}
      means={t('operations.triggers.deleteMeans')}
      action={t('operations.triggers.delete')}
      isHarmful
      change={change}
      onClose={onClose}
      onSubmit={() => change.mutate({ trigger: name }, { onSuccess: onClose })}
    />
  )
}
