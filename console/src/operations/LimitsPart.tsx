/** How often the fleet may use limited resources: seen by all, changed by the operators. */
import { Button, Group, NumberInput, Table, Text, TextInput } from '@mantine/core'
import { IconGauge } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { keys } from '@/api/keys'
import { count } from '@/format/numbers'
import { Empty } from '@/kit/Empty'
import { Name, Time } from '@/kit/Values'

import { DataTable, Number, useActionsColumn } from './DataTable'
import { FormDialog } from './FormDialog'
import { type Limit, limitsQuery, resetLimit, setLimit, useChange } from './queries'

export function LimitsPart() {
  const { t } = useTranslation()
  const found = useQuery(limitsQuery)
  const [changed, setChanged] = useState<Limit>()
  const [reset, setReset] = useState<Limit>()
  const limits = found.data?.limits ?? []
  return (
    <>
      <DataTable
        label={t('operations.limits.title')}
        found={found}
        isEmpty={limits.length === 0}
        empty={
          <Empty icon={IconGauge} title={t('operations.limits.none')}>
            {t('operations.limits.noneHint')}
          </Empty>
        }
        columns={[
          { name: t('operations.limits.resource') },
          { name: t('operations.limits.limit'), isNumber: true },
          { name: t('operations.limits.initial'), isNumber: true },
          { name: t('operations.limits.waiting'), isNumber: true },
          { name: t('operations.limits.workers'), isNumber: true },
          { name: t('operations.limits.change') },
          useActionsColumn(),
        ]}
      >
        {limits.map((limit) => (
          <LimitRow
            key={limit.tag}
            limit={limit}
            allowed={found.data?.allowed ?? false}
            onChange={() => setChanged(limit)}
            onReset={() => setReset(limit)}
          />
        ))}
      </DataTable>
      {changed && <ChangeDialog limit={changed} onClose={() => setChanged(undefined)} />}
      {reset && <ResetDialog limit={reset} onClose={() => setReset(undefined)} />}
    </>
  )
}

type RowProps = { limit: Limit; allowed: boolean; onChange: () => void; onReset: () => void }

function LimitRow({ limit, allowed, onChange, onReset }: RowProps) {
  const { t } = useTranslation()
  return (
    <Table.Tr>
      <Table.Td>{limit.tag}</Table.Td>
      <Number>
        <b>{t('operations.limits.perSecond', { rate: count(limit.per_second) })}</b>
      </Number>
      <Number>{t('operations.limits.perSecond', { rate: count(limit.initial_per_second) })}</Number>
      <Number>{limit.waiting === null ? '–' : count(limit.waiting)}</Number>
      <Number>{count(limit.workers)}</Number>
      <Table.Td>
        {limit.changed_by && limit.changed_at ? (
          <>
            <Time value={limit.changed_at} /> · <Name value={limit.changed_by} />
            {limit.reason && (
              <Text size="xs" c="dimmed">
                <Name value={limit.reason} most={120} />
              </Text>
            )}
          </>
        ) : (
          <Text size="sm" c="dimmed">
            {t('operations.limits.ofSettings')}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {allowed && (
          <Group gap={6} wrap="nowrap" justify="flex-end">
            <Button
              variant="default"
              size="compact-xs"
              onClick={onChange}
              aria-label={t('operations.limits.changeOf', { tag: limit.tag })}
            >
              {t('operations.change')}
            </Button>
            {limit.changed_by && (
              <Button
                variant="subtle"
                color="gray"
                size="compact-xs"
                onClick={onReset}
                aria-label={t('operations.limits.resetOf', { tag: limit.tag })}
              >
                {t('operations.reset')}
              </Button>
            )}
          </Group>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function ChangeDialog({ limit, onClose }: { limit: Limit; onClose: () => void }) {
  const { t } = useTranslation()
  const [rate, setRate] = useState<number | string>(limit.per_second)
  const [reason, setReason] = useState('')
  const change = useChange(setLimit, keys.limits.all)
  return (
    <FormDialog
      title={t('operations.limits.changeOf', { tag: limit.tag })}
      means={t('operations.limits.means')}
      action={t('app.save')}
      change={change}
      onClose={onClose}
      onSubmit={() => {
        if (typeof rate === 'number') {
          change.mutate({ tag: limit.tag, per_second: rate, reason }, { onSuccess: onClose })
        }
      }}
    >
      <NumberInput
        label={t('operations.limits.rate')}
        description={t('operations.limits.rateHint')}
        value={rate}
        onChange={setRate}
        min={0}
        required
        data-autofocus
      />
      <TextInput
        label={t('operations.reason')}
        value={reason}
        maxLength={500}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  )
}

function ResetDialog({ limit, onClose }: { limit: Limit; onClose: () => void }) {
  const { t } = useTranslation()
  const change = useChange(resetLimit, keys.limits.all)
  return (
    <FormDialog
      title={t('operations.limits.resetOf', { tag: limit.tag })}
      means={t('operations.limits.resetMeans', { rate: count(limit.initial_per_second) })}
      action={t('operations.reset')}
      change={change}
      onClose={onClose}
      onSubmit={() => change.mutate({ tag: limit.tag }, { onSuccess: onClose })}
    />
  )
}
