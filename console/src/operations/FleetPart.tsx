/** The services and workers, as they are now, and what waits in the task queues. */
import { Group, Progress, Stack, Table, Text, Title } from '@mantine/core'
import {
  IconAlertTriangle,
  IconCheck,
  IconPlayerPlay,
  IconPlugConnectedX,
  IconServerOff,
  IconTransferOut,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'

import { duration, relative } from '@/format/dates'
import { bytes, count, decimal } from '@/format/numbers'
import { Empty } from '@/kit/Empty'
import { State } from '@/kit/State'
import { Trouble } from '@/kit/Trouble'
import { Name, Time } from '@/kit/Values'
import { healthQuery, SERVICES } from '@/live/health'

import { DataTable, Number } from './DataTable'
import classes from './Operations.module.css'
import { fleetQuery, type Queue, type Worker } from './queries'

export function FleetPart() {
  const { t } = useTranslation()
  const found = useQuery(fleetQuery)
  const workers = found.data?.workers ?? []
  return (
    <>
      <Services />
      <Stack gap="xs">
        <Title order={2}>{t('operations.fleet.workers')}</Title>
        <DataTable
          label={t('operations.fleet.workers')}
          minWidth={860}
          found={found}
          isEmpty={workers.length === 0}
          empty={
            <Empty icon={IconServerOff} title={t('operations.fleet.none')}>
              {t('operations.fleet.noneHint')}
            </Empty>
          }
          columns={[
            { name: t('operations.fleet.state') },
            { name: t('operations.fleet.process') },
            { name: t('operations.fleet.heartbeat') },
            { name: t('operations.fleet.queue') },
            { name: t('operations.fleet.steps') },
            { name: t('operations.fleet.done'), isNumber: true },
            { name: t('operations.fleet.version') },
          ]}
        >
          {workers.map((worker) => (
            <WorkerRow key={worker.worker_id} worker={worker} now={found.dataUpdatedAt} />
          ))}
        </DataTable>
      </Stack>
      {found.data && <Queues queues={found.data.queues} found={found} />}
    </>
  )
}

function Services() {
  const { t } = useTranslation()
  const found = useQuery(healthQuery)
  if (found.error) return <Trouble error={found.error} retry={() => void found.refetch()} />
  if (!found.data) return null
  const health = found.data
  return (
    <div className={classes.services} role="list" aria-label={t('operations.fleet.services')}>
      {SERVICES.map((service) => {
        const isWell = health[service] === 'ok'
        return (
          <div key={service} role="listitem" className={classes.service}>
            <Group justify="space-between" gap="xs" wrap="nowrap">
              <Text size="sm" fw={600}>
                {t(`operations.fleet.names.${service}`)}
              </Text>
              <State icon={isWell ? IconCheck : IconAlertTriangle} color={isWell ? 'teal' : 'red'}>
                {t(isWell ? 'operations.fleet.available' : 'operations.fleet.unavailable')}
              </State>
            </Group>
            <Text size="xs" c="dimmed">
              {isWell ? t(`operations.fleet.does.${service}`) : <Name value={health[service]} most={200} />}
            </Text>
            {service === 'store' && health.store_free_bytes !== null && (
              <Text size="xs">{t('operations.fleet.free', { size: bytes(health.store_free_bytes) })}</Text>
            )}
          </div>
        )
      })}
    </div>
  )
}

const LOOKS = {
  working: { icon: IconPlayerPlay, color: 'teal' },
  draining: { icon: IconTransferOut, color: 'yellow' },
  silent: { icon: IconPlugConnectedX, color: 'red' },
} as const

function WorkerRow({ worker, now }: { worker: Worker; now: number }) {
  const { t, i18n } = useTranslation()
  return (
    <Table.Tr>
      <Table.Td>
        <State {...LOOKS[worker.state]}>{t(`operations.fleet.states.${worker.state}`)}</State>
      </Table.Td>
      <Table.Td>
        <Name value={worker.host} most={28} />
        <Text size="xs" c="dimmed">
          {t('operations.fleet.pid', { id: worker.process_id })}
        </Text>
      </Table.Td>
      <Table.Td className={classes.line}>
        {relative(worker.last_heartbeat, now, i18n.language)}
        <Text size="xs" c="dimmed">
          {t('operations.fleet.since')} <Time value={worker.since} />
        </Text>
      </Table.Td>
      <Table.Td>
        <Stack gap={2}>
          {worker.queues.map((queue) => (
            <Text key={queue.queue} size="sm" className={classes.line} title={queue.queue}>
              {queue.tag ?? t('operations.fleet.main')}
            </Text>
          ))}
        </Stack>
      </Table.Td>
      <Table.Td>
        <Stack gap={2}>
          {worker.queues.map((queue) => (
            <Slots key={queue.queue} used={queue.steps.used} total={queue.steps.total} />
          ))}
        </Stack>
      </Table.Td>
      <Number>
        <Stack gap={2}>
          {worker.queues.map((queue) => (
            <Text key={queue.queue} size="sm">
              {count(queue.done)}
              {queue.failed > 0 && (
                <Text span size="xs" c="dimmed">
                  {' '}
                  {t('operations.fleet.failed', { count: queue.failed })}
                </Text>
              )}
            </Text>
          ))}
        </Stack>
      </Number>
      <Table.Td>
        {worker.version ?? '–'}
        {worker.build && (
          <Text size="xs" c="dimmed">
            <Name value={worker.build} most={24} />
          </Text>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function Slots({ used, total }: { used: number; total: number | null }) {
  const { t } = useTranslation()
  if (total === null) return <Text size="sm">{count(used)}</Text>
  const words = t('operations.fleet.slots', { used: count(used), total: count(total) })
  return (
    <Group gap={8} wrap="nowrap">
      <Progress size="sm" value={(100 * used) / Math.max(total, 1)} className={classes.bar} aria-label={words} />
      <Text size="sm" className={classes.line}>
        {words}
      </Text>
    </Group>
  )
}

type QueuesProps = { queues: Queue[]; found: { error: unknown; isPending: boolean; refetch: () => unknown } }

function Queues({ queues, found }: QueuesProps) {
  const { t } = useTranslation()
  return (
    <Stack gap="xs">
      <Title order={2}>{t('operations.fleet.queues')}</Title>
      <DataTable
        label={t('operations.fleet.queues')}
        found={found}
        columns={[
          { name: t('operations.fleet.queue') },
          { name: t('operations.fleet.holds') },
          { name: t('operations.fleet.waiting'), isNumber: true },
          { name: t('operations.fleet.oldest'), isNumber: true },
          { name: t('operations.fleet.added'), isNumber: true },
          { name: t('operations.fleet.taken'), isNumber: true },
          { name: t('operations.fleet.takers'), isNumber: true },
        ]}
      >
        {queues.map((queue) => (
          <QueueRow key={`${queue.queue} ${queue.tasks}`} queue={queue} />
        ))}
      </DataTable>
    </Stack>
  )
}

function QueueRow({ queue }: { queue: Queue }) {
  const { t } = useTranslation()
  const isStuck = queue.waiting > 0 && queue.workers === 0
  return (
    <Table.Tr>
      <Table.Td title={queue.queue}>{queue.tag ?? t('operations.fleet.main')}</Table.Td>
      <Table.Td>{t(`operations.fleet.tasks.${queue.tasks}`)}</Table.Td>
      <Number>{count(queue.waiting)}</Number>
      <Number>{queue.waiting > 0 ? duration(queue.oldest_wait_seconds) : '–'}</Number>
      <Number>{decimal(queue.added_per_second.toFixed(2))}</Number>
      <Number>{decimal(queue.taken_per_second.toFixed(2))}</Number>
      <Number>
        {isStuck ? (
          <State icon={IconAlertTriangle} color="red">
            {t('operations.fleet.noTaker')}
          </State>
        ) : (
          count(queue.workers)
        )}
      </Number>
    </Table.Tr>
  )
}
