/** When Docrail works on its own: its schedules, with their next and latest pass. */
import { Button, Group, Table, Text, TextInput } from '@mantine/core'
import { IconCalendarOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { keys } from '@/api/keys'
import { count } from '@/format/numbers'
import { Empty } from '@/kit/Empty'
import { notifyProblem } from '@/kit/notify'
import { Name, Time } from '@/kit/Values'

import { DataTable, Number, useActionsColumn } from './DataTable'
import { FormDialog } from './FormDialog'
import classes from './Operations.module.css'
import { Activity, interval, LastPass } from './passes'
import { runSchedule, type Schedule, schedulesQuery, switchSchedule, useChange } from './queries'

export function SchedulesPart() {
  const { t } = useTranslation()
  const found = useQuery(schedulesQuery)
  const [switched, setSwitched] = useState<Schedule>()
  const schedules = found.data?.schedules ?? []
  return (
    <>
      <DataTable
        label={t('operations.schedules.title')}
        minWidth={900}
        found={found}
        isEmpty={schedules.length === 0}
        empty={
          <Empty icon={IconCalendarOff} title={t('operations.schedules.none')}>
            {t('operations.schedules.noneHint')}
          </Empty>
        }
        columns={[
          { name: t('operations.schedules.state') },
          { name: t('operations.schedules.name') },
          { name: t('operations.schedules.next') },
          { name: t('operations.schedules.last') },
          { name: t('operations.schedules.passes'), isNumber: true },
          useActionsColumn(),
        ]}
      >
        {schedules.map((schedule) => (
          <ScheduleRow
            key={schedule.name}
            schedule={schedule}
            allowed={found.data?.allowed ?? false}
            onSwitch={() => setSwitched(schedule)}
          />
        ))}
      </DataTable>
      {switched && <SwitchDialog schedule={switched} onClose={() => setSwitched(undefined)} />}
    </>
  )
}

type RowProps = { schedule: Schedule; allowed: boolean; onSwitch: () => void }

function ScheduleRow({ schedule, allowed, onSwitch }: RowProps) {
  const { t } = useTranslation()
  const run = useChange(runSchedule, keys.schedules.all)
  const name = t(`operations.schedules.names.${schedule.name}`)
  return (
    <Table.Tr>
      <Table.Td>
        <Activity paused={schedule.paused} />
      </Table.Td>
      <Table.Td>
        {name}
        <Text size="xs" c="dimmed">
          {schedule.note ? <Name value={schedule.note} most={100} /> : t(`operations.schedules.does.${schedule.name}`)}
        </Text>
      </Table.Td>
      <Table.Td className={classes.line}>
        {schedule.next_at ? <Time value={schedule.next_at} /> : '–'}
        <Text size="xs" c="dimmed">
          {schedule.every_seconds === null
            ? t('operations.schedules.calendar')
            : t('operations.schedules.every', { time: interval(schedule.every_seconds) })}
        </Text>
      </Table.Td>
      <Table.Td>
        <LastPass last={schedule.last} />
      </Table.Td>
      <Number>{count(schedule.passes)}</Number>
      <Table.Td>
        {allowed && (
          <Group gap={6} wrap="nowrap" justify="flex-end">
            <Button
              variant="default"
              size="compact-xs"
              loading={run.isPending}
              onClick={() => run.mutate({ schedule: schedule.name }, { onError: notifyProblem })}
              aria-label={t('operations.schedules.runOf', { name })}
            >
              {t('operations.schedules.run')}
            </Button>
            <Button
              variant="subtle"
              color="gray"
              size="compact-xs"
              onClick={onSwitch}
              aria-label={t(schedule.paused ? 'operations.schedules.resumeOf' : 'operations.schedules.pauseOf', {
                name,
              })}
            >
              {t(schedule.paused ? 'operations.schedules.resume' : 'operations.schedules.pause')}
            </Button>
          </Group>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function SwitchDialog({ schedule, onClose }: { schedule: Schedule; onClose: () => void }) {
  const { t } = useTranslation()
  const [reason, setReason] = useState('')
  const change = useChange(switchSchedule, keys.schedules.all)
  const name = t(`operations.schedules.names.${schedule.name}`)
  const isPaused = schedule.paused
  return (
    <FormDialog
      title={t(isPaused ? 'operations.schedules.resumeOf' : 'operations.schedules.pauseOf', { name })}
      means={t(isPaused ? 'operations.schedules.resumeMeans' : `operations.schedules.pauseMeans.${schedule.name}`)}
      action={t(isPaused ? 'operations.schedules.resume' : 'operations.schedules.pause')}
      change={change}
      onClose={onClose}
      onSubmit={() => change.mutate({ schedule: schedule.name, isPaused, reason }, { onSuccess: onClose })}
    >
      <TextInput
        label={t('operations.reason')}
        value={reason}
        maxLength={500}
        onChange={(event) => setReason(event.currentTarget.value)}
        data-autofocus
      />
    </FormDialog>
  )
}
