/** The tenant's API keys: create, rotate, revoke. A secret is shown once, by `SecretDialog`. */
import { Badge, Button, Group, Table, Text } from '@mantine/core'
import { IconCheck, IconClockX, IconKey, IconKeyOff, IconPlus } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { keys } from '@/api/keys'
import { Empty } from '@/kit/Empty'
import { More } from '@/kit/More'
import { State } from '@/kit/State'
import { Id, Name, Time } from '@/kit/Values'

import { DataTable, useActionsColumn } from './DataTable'
import { FormDialog } from './FormDialog'
import { CreateDialog, RotateDialog, SecretDialog } from './KeyDialogs'
import classes from './Operations.module.css'
import { type Key, keysQuery, revokeKey, useChange } from './queries'

type Asked =
  | { action: 'create' }
  | { action: 'rotate' | 'revoke'; key: Key }
  | { action: 'show'; made: Model<'NewKey'> }

export function KeysPart() {
  const { t } = useTranslation()
  const found = useInfiniteQuery(keysQuery)
  const [asked, setAsked] = useState<Asked>()
  const close = () => setAsked(undefined)
  const show = (made: Model<'NewKey'>) => setAsked({ action: 'show', made })
  const all = found.data?.pages.flatMap((page) => page.keys) ?? []
  const create = (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setAsked({ action: 'create' })}>
      {t('operations.keys.create')}
    </Button>
  )
  return (
    <>
      {all.length > 0 && <Group justify="flex-end">{create}</Group>}
      <DataTable
        label={t('operations.keys.title')}
        minWidth={920}
        found={found}
        isEmpty={all.length === 0}
        empty={
          <Empty icon={IconKey} title={t('operations.keys.none')} action={create}>
            {t('operations.keys.noneHint')}
          </Empty>
        }
        columns={[
          { name: t('operations.keys.state') },
          { name: t('operations.person') },
          { name: t('operations.keys.id') },
          { name: t('operations.scopes') },
          { name: t('operations.keys.used') },
          { name: t('operations.keys.created') },
          { name: t('operations.keys.expires') },
          useActionsColumn(),
        ]}
      >
        {all.map((key) => (
          <KeyRow
            key={key.key_id}
            found={key}
            now={found.dataUpdatedAt}
            onAsk={(action) => setAsked({ action, key })}
          />
        ))}
      </DataTable>
      <More found={found} />
      {asked?.action === 'create' && <CreateDialog onMade={show} onClose={close} />}
      {asked?.action === 'rotate' && <RotateDialog found={asked.key} onMade={show} onClose={close} />}
      {asked?.action === 'revoke' && <RevokeDialog found={asked.key} onClose={close} />}
      {asked?.action === 'show' && <SecretDialog made={asked.made} onClose={close} />}
    </>
  )
}

type Standing = 'valid' | 'revoked' | 'expired'

const LOOKS = {
  valid: { icon: IconCheck, color: 'teal' },
  revoked: { icon: IconKeyOff, color: 'gray' },
  expired: { icon: IconClockX, color: 'gray' },
} as const

function standingOf(key: Key, now: number): Standing {
  if (key.revoked_at !== null) return 'revoked'
  return key.expires_at !== null && Date.parse(key.expires_at) <= now ? 'expired' : 'valid'
}

type RowProps = { found: Key; now: number; onAsk: (action: 'rotate' | 'revoke') => void }

function KeyRow({ found, now, onAsk }: RowProps) {
  const { t } = useTranslation()
  const standing = standingOf(found, now)
  return (
    <Table.Tr>
      <Table.Td>
        <State {...LOOKS[standing]}>{t(`operations.keys.states.${standing}`)}</State>
      </Table.Td>
      <Table.Td>
        <Name value={found.name} most={40} />
      </Table.Td>
      <Table.Td>
        <Id value={found.key_id} />
      </Table.Td>
      <Table.Td>
        <Group gap={4}>
          {found.scopes.map((scope) => (
            <Badge key={scope} color="gray">
              {scope}
            </Badge>
          ))}
        </Group>
      </Table.Td>
      <Table.Td className={classes.line}>
        {found.last_used_at ? <Time value={found.last_used_at} /> : t('operations.never')}
      </Table.Td>
      <Table.Td>
        <Time value={found.created_at} />
        <Text size="xs" c="dimmed">
          <Name value={found.created_by} most={30} />
        </Text>
      </Table.Td>
      <Table.Td>
        {found.expires_at ? <Time value={found.expires_at} /> : t('operations.never')}
        {found.previous_until && Date.parse(found.previous_until) > now && (
          <Text size="xs" c="dimmed">
            {t('operations.keys.previousUntil')} <Time value={found.previous_until} />
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {standing === 'valid' && (
          <Group gap={6} wrap="nowrap" justify="flex-end">
            <Button
              variant="default"
              size="compact-xs"
              onClick={() => onAsk('rotate')}
              aria-label={t('operations.keys.rotateOf', { name: found.name })}
            >
              {t('operations.keys.rotate')}
            </Button>
            <Button
              variant="subtle"
              color="gray"
              size="compact-xs"
              onClick={() => onAsk('revoke')}
              aria-label={t('operations.keys.revokeOf', { name: found.name })}
            >
              {t('operations.keys.revoke')}
            </Button>
          </Group>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function RevokeDialog({ found, onClose }: { found: Key; onClose: () => void }) {
  const { t } = useTranslation()
  const change = useChange(revokeKey, keys.keys.all)
  return (
    <FormDialog
      title={t('operations.keys.revokeOf', { name: found.name })}
      means={t('operations.keys.revokeMeans')}
      action={t('operations.keys.revoke')}
      isHarmful
      change={change}
      onClose={onClose}
      onSubmit={() => change.mutate({ key_id: found.key_id }, { onSuccess: onClose })}
    />
  )
}
