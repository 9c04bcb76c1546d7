/** Who is signed in with a browser, and an end to it. */
import { Badge, Button, Group, Table } from '@mantine/core'
import { IconUserOff } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { keys } from '@/api/keys'
import { Empty } from '@/kit/Empty'
import { More } from '@/kit/More'
import { Id, Name, Time } from '@/kit/Values'

import { DataTable, useActionsColumn } from './DataTable'
import { FormDialog } from './FormDialog'
import classes from './Operations.module.css'
import { revokeSession, sessionsQuery, useChange } from './queries'

export function SessionsPart() {
  const { t } = useTranslation()
  const found = useInfiniteQuery(sessionsQuery)
  const [ended, setEnded] = useState<Model<'Session'>>()
  const sessions = found.data?.pages.flatMap((page) => page.sessions) ?? []
  return (
    <>
      <DataTable
        label={t('operations.sessions.title')}
        found={found}
        isEmpty={sessions.length === 0}
        empty={
          <Empty icon={IconUserOff} title={t('operations.sessions.none')}>
            {t('operations.sessions.noneHint')}
          </Empty>
        }
        columns={[
          { name: t('operations.person') },
          { name: t('operations.scopes') },
          { name: t('operations.sessions.by') },
          { name: t('operations.sessions.since') },
          { name: t('operations.sessions.seen') },
          { name: t('operations.sessions.until') },
          useActionsColumn(),
        ]}
      >
        {sessions.map((session) => (
          <Table.Tr key={session.session_id}>
            <Table.Td>
              <Name value={session.name} />
            </Table.Td>
            <Table.Td>
              <Group gap={4}>
                {session.scopes.map((scope) => (
                  <Badge key={scope} color="gray">
                    {scope}
                  </Badge>
                ))}
              </Group>
            </Table.Td>
            <Table.Td>
              {session.key_id ? <Id value={session.key_id} /> : <Name value={session.issuer ?? ''} most={40} />}
            </Table.Td>
            <Table.Td className={classes.line}>
              <Time value={session.created_at} />
            </Table.Td>
            <Table.Td className={classes.line}>
              <Time value={session.last_seen_at} />
            </Table.Td>
            <Table.Td className={classes.line}>
              <Time value={session.expires_at} />
            </Table.Td>
            <Table.Td className={classes.right}>
              <Button
                variant="default"
                size="compact-xs"
                onClick={() => setEnded(session)}
                aria-label={t('operations.sessions.endOf', { name: session.name })}
              >
                {t('operations.sessions.end')}
              </Button>
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      <More found={found} />
      {ended && <EndDialog session={ended} onClose={() => setEnded(undefined)} />}
    </>
  )
}

function EndDialog({ session, onClose }: { session: Model<'Session'>; onClose: () => void }) {
  const { t } = useTranslation()
  const change = useChange(revokeSession, keys.sessions.all)
  return (
    <FormDialog
      title={t('operations.sessions.endOf', { name: session.name })}
      means={t('operations.sessions.means')}
      action={t('operations.sessions.end')}
      isHarmful
      change={change}
      onClose={onClose}
      onSubmit={() => change.mutate({ session_id: session.session_id }, { onSuccess: onClose })}
    />
  )
}
