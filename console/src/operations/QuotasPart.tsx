/** How much a tenant and its keys may use. The operators see and change those of every tenant. */
import { Button, Group, NumberInput, Select, Table, Text, TextInput } from '@mantine/core'
import { IconPlus, IconScale } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { keys } from '@/api/keys'
import { useMe } from '@/api/me'
import { bytes, count } from '@/format/numbers'
import { Empty } from '@/kit/Empty'
import { Id, Name, Time } from '@/kit/Values'

import { DataTable, Number, useActionsColumn } from './DataTable'
import { FormDialog } from './FormDialog'
import { type Quota, quotasQuery, resetQuota, setQuota, tenantsQuery, useChange } from './queries'

type QuotaName = Quota['quota']

const QUOTAS: readonly QuotaName[] = [
  'requests_per_second',
  'body_bytes',
  'documents_per_day',
  'open_runs',
  'highest_priority',
  'model_budget_per_day',
]
/** Quotas that a key cannot have. */
const OF_TENANTS: ReadonlySet<QuotaName> = new Set(['highest_priority'])

export function QuotasPart() {
  const { t } = useTranslation()
  const { tenant: wanted } = useSearch({ strict: false })
  const own = useMe()?.tenant ?? ''
  const tenant = wanted ?? own
  const found = useQuery(quotasQuery(wanted))
  const [changed, setChanged] = useState<Quota | 'new'>()
  const [reset, setReset] = useState<Quota>()
  const quotas = found.data?.quotas ?? []
  const allowed = found.data?.allowed ?? false
  const add = allowed && (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setChanged('new')}>
      {t('operations.quotas.set')}
    </Button>
  )
  return (
    <>
      {allowed && (
        <Group justify="space-between" align="flex-end">
          <TenantSelect tenant={tenant} />
          {quotas.length > 0 && add}
        </Group>
      )}
      <DataTable
        label={t('operations.quotas.title')}
        found={found}
        isEmpty={quotas.length === 0}
        empty={
          <Empty icon={IconScale} title={t('operations.quotas.none', { tenant })} action={add || undefined}>
            {t('operations.quotas.noneHint')}
          </Empty>
        }
        columns={[
          { name: t('operations.quotas.quota') },
          { name: t('operations.quotas.of') },
          { name: t('operations.quotas.value'), isNumber: true },
          { name: t('operations.quotas.change') },
          useActionsColumn(),
        ]}
      >
        {quotas.map((quota) => (
          <QuotaRow
            key={`${quota.quota} ${quota.key_id}`}
            quota={quota}
            allowed={allowed}
            onChange={() => setChanged(quota)}
            onReset={() => setReset(quota)}
          />
        ))}
      </DataTable>
      {changed && (
        <ChangeDialog
          tenant={tenant}
          quota={changed === 'new' ? undefined : changed}
          onClose={() => setChanged(undefined)}
        />
      )}
      {reset && <ResetDialog quota={reset} onClose={() => setReset(undefined)} />}
    </>
  )
}

function TenantSelect({ tenant }: { tenant: string }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const found = useQuery(tenantsQuery)
  const names = found.data?.tenants.map((each) => each.tenant) ?? []
  return (
    <Select
      label={t('operations.tenant')}
      data={names.includes(tenant) ? names : [tenant, ...names]}
      value={tenant}
      searchable
      allowDeselect={false}
      onChange={(chosen) =>
        void navigate({
          to: '/operations/$part',
          params: { part: 'quotas' },
          search: { tenant: chosen ?? undefined },
          replace: true,
        })
      }
      w={260}
    />
  )
}

/** The number with its unit. */
function shown({ quota, value }: Quota): string {
  return quota === 'body_bytes' ? bytes(value) : count(value)
}

type RowProps = { quota: Quota; allowed: boolean; onChange: () => void; onReset: () => void }

function QuotaRow({ quota, allowed, onChange, onReset }: RowProps) {
  const { t } = useTranslation()
  const name = t(`operations.quotas.names.${quota.quota}`)
  return (
    <Table.Tr>
      <Table.Td>{name}</Table.Td>
      <Table.Td>{quota.key_id ? <Id value={quota.key_id} /> : t('operations.quotas.wholeTenant')}</Table.Td>
      <Number>
        <b>{shown(quota)}</b>
      </Number>
      <Table.Td>
        {quota.changed_by && quota.changed_at ? (
          <>
            <Time value={quota.changed_at} /> · <Name value={quota.changed_by} />
          </>
        ) : (
          <Text size="sm" c="dimmed">
            {t('operations.quotas.ofSettings')}
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
              aria-label={t('operations.quotas.changeOf', { name })}
            >
              {t('operations.change')}
            </Button>
            {quota.changed_by && (
              <Button
                variant="subtle"
                color="gray"
                size="compact-xs"
                onClick={onReset}
                aria-label={t('operations.quotas.resetOf', { name })}
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

type ChangeProps = { tenant: string; quota: Quota | undefined; onClose: () => void }

function ChangeDialog({ tenant, quota, onClose }: ChangeProps) {
  const { t } = useTranslation()
  const [name, setName] = useState<QuotaName>(quota?.quota ?? 'documents_per_day')
  const [value, setValue] = useState<number | string>(quota?.value ?? '')
  const [keyId, setKeyId] = useState(quota?.key_id ?? '')
  const change = useChange(setQuota, keys.quotas.all)
  const forKey = OF_TENANTS.has(name) ? '' : keyId.trim()
  return (
    <FormDialog
      title={t('operations.quotas.setFor', { tenant })}
      means={t('operations.quotas.means')}
      action={t('app.save')}
      change={change}
      onClose={onClose}
      onSubmit={() => {
        if (typeof value === 'number') {
          change.mutate({ quota: name, tenant, key_id: forKey || null, value }, { onSuccess: onClose })
        }
      }}
    >
      <Select
        label={t('operations.quotas.quota')}
        data={QUOTAS.map((each) => ({ value: each, label: t(`operations.quotas.names.${each}`) }))}
        value={name}
        onChange={(chosen) => chosen && setName(chosen)}
        disabled={quota !== undefined}
        allowDeselect={false}
      />
      <NumberInput
        label={t('operations.quotas.value')}
        value={value}
        onChange={setValue}
        min={0}
        required
        data-autofocus
      />
      {!OF_TENANTS.has(name) && (
        <TextInput
          label={t('operations.quotas.key')}
          description={t('operations.quotas.keyHint')}
          value={keyId}
          maxLength={16}
          disabled={quota !== undefined}
          onChange={(event) => setKeyId(event.currentTarget.value)}
        />
      )}
    </FormDialog>
  )
}

function ResetDialog({ quota, onClose }: { quota: Quota; onClose: () => void }) {
  const { t } = useTranslation()
  const change = useChange(resetQuota, keys.quotas.all)
  return (
    <FormDialog
      title={t('operations.quotas.resetOf', { name: t(`operations.quotas.names.${quota.quota}`) })}
      means={t('operations.quotas.resetMeans')}
      action={t('operations.reset')}
      change={change}
      onClose={onClose}
      onSubmit={() => change.mutate(quota, { onSuccess: onClose })}
    />
  )
}
