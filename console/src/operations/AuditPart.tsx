/** What people and Docrail did, newest first, and the proof that nothing of it was changed. */
import { Alert, Anchor, Button, CopyButton, Group, Select, Stack, Table, Text, TextInput } from '@mantine/core'
import { IconAlertTriangle, IconHistoryOff, IconShieldCheck } from '@tabler/icons-react'
import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { count } from '@/format/numbers'
import { Empty } from '@/kit/Empty'
import { More } from '@/kit/More'
import { Trouble } from '@/kit/Trouble'
import { Name, Time } from '@/kit/Values'

import { DataTable, Number } from './DataTable'
import classes from './Operations.module.css'
import { type AuditFilters, auditQuery, verifyAudit } from './queries'

export function AuditPart() {
  const { t } = useTranslation()
  const { actor, act, subject } = useSearch({ strict: false })
  const filters = { actor, act, subject }
  const found = useInfiniteQuery(auditQuery(filters))
  const events = found.data?.pages.flatMap((page) => page.events) ?? []
  const isFiltered = Boolean(actor ?? act ?? subject)
  return (
    <>
      <Verify />
      <Filters key={JSON.stringify(filters)} filters={filters} acts={found.data?.pages[0]?.acts ?? []} />
      <DataTable
        label={t('operations.audit.title')}
        minWidth={900}
        found={found}
        isEmpty={events.length === 0}
        empty={
          <Empty icon={IconHistoryOff} title={t(isFiltered ? 'operations.audit.noneFound' : 'operations.audit.none')}>
            {t(isFiltered ? 'operations.audit.noneFoundHint' : 'operations.audit.noneHint')}
          </Empty>
        }
        columns={[
          { name: t('operations.audit.number'), isNumber: true },
          { name: t('operations.audit.when') },
          { name: t('operations.person') },
          { name: t('operations.audit.act') },
          { name: t('operations.audit.subject') },
          { name: t('operations.audit.detail') },
        ]}
      >
        {events.map((event) => (
          <EventRow key={event.sequence} event={event} />
        ))}
      </DataTable>
      <More found={found} />
    </>
  )
}

function Verify() {
  const { t } = useTranslation()
  const check = useMutation({ mutationFn: verifyAudit })
  const found = check.data
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <Button
          variant="default"
          leftSection={<IconShieldCheck size={15} aria-hidden />}
          loading={check.isPending}
          onClick={() => check.mutate()}
        >
          {t('operations.audit.verify')}
        </Button>
        <Text size="sm" c="dimmed">
          {t('operations.audit.verifyHint')}
        </Text>
      </Group>
      {check.error && <Trouble error={check.error} />}
      {found && (found.intact ? <Intact found={found} /> : <Broken found={found} />)}
    </Stack>
  )
}

function Intact({ found }: { found: Model<'ChainCheck'> }) {
  const { t } = useTranslation()
  return (
    <Alert
      color="teal"
      variant="light"
      role="status"
      icon={<IconShieldCheck size={18} aria-hidden />}
      title={t('operations.audit.intact', { count: found.events, shown: count(found.events) })}
    >
      <Text size="sm">{t('operations.audit.head')}</Text>
      <Group gap="xs" mt={4}>
        <span className={classes.detail}>{found.head}</span>
        <CopyButton value={found.head}>
          {({ copied, copy }) => (
            <Button variant="default" size="compact-xs" onClick={copy}>
              {t(copied ? 'app.copied' : 'app.copy')}
            </Button>
          )}
        </CopyButton>
      </Group>
    </Alert>
  )
}

function Broken({ found }: { found: Model<'ChainCheck'> }) {
  const { t } = useTranslation()
  return (
    <Alert
      color="red"
      variant="light"
      role="alert"
      icon={<IconAlertTriangle size={18} aria-hidden />}
      title={t('operations.audit.broken')}
    >
      <Text size="sm">{found.problem}</Text>
    </Alert>
  )
}

function Filters({ filters, acts }: { filters: AuditFilters; acts: string[] }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [actor, setActor] = useState(filters.actor ?? '')
  const [subject, setSubject] = useState(filters.subject ?? '')
  const show = (wanted: AuditFilters) =>
    void navigate({
      to: '/operations/$part',
      params: { part: 'audit' },
      search: { actor: wanted.actor || undefined, act: wanted.act || undefined, subject: wanted.subject || undefined },
      replace: true,
    })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        show({ ...filters, actor: actor.trim(), subject: subject.trim() })
      }}
    >
      <Group gap="sm" align="flex-end">
        <TextInput
          label={t('operations.person')}
          value={actor}
          maxLength={200}
          w={180}
          onChange={(event) => setActor(event.currentTarget.value)}
        />
        <Select
          label={t('operations.audit.act')}
          placeholder={t('operations.audit.anyAct')}
          data={filters.act && !acts.includes(filters.act) ? [filters.act, ...acts] : acts}
          value={filters.act ?? null}
          clearable
          clearButtonProps={{ 'aria-label': t('operations.audit.anyAct') }}
          searchable
          w={220}
          onChange={(act) => show({ actor: actor.trim(), subject: subject.trim(), act: act ?? undefined })}
        />
        <TextInput
          label={t('operations.audit.subject')}
          value={subject}
          maxLength={200}
          w={260}
          onChange={(event) => setSubject(event.currentTarget.value)}
        />
        <Button type="submit" size="sm" variant="default">
          {t('operations.audit.filter')}
        </Button>
        {(filters.actor ?? filters.act ?? filters.subject) && (
          <Button size="sm" variant="subtle" color="gray" onClick={() => show({})}>
            {t('operations.audit.clear')}
          </Button>
        )}
      </Group>
    </form>
  )
}

function EventRow({ event }: { event: Model<'AuditEvent'> }) {
  const detail = JSON.stringify(event.detail)
  return (
    <Table.Tr>
      <Number>{count(event.sequence)}</Number>
      <Table.Td className={classes.line}>
        <Time value={event.happened_at} />
      </Table.Td>
      <Table.Td>
        <Name value={event.actor} most={30} />
      </Table.Td>
      <Table.Td>{event.act}</Table.Td>
      <Table.Td>
        {event.document_id ? (
          <Anchor
            inherit
            component={Link}
            to="/documents/$documentId"
            params={{ documentId: event.document_id } as never}
          >
            <Name value={event.document_id} most={24} />
          </Anchor>
        ) : (
          <Name value={event.review_id ?? ''} most={24} />
        )}
      </Table.Td>
      <Table.Td className={classes.detail}>{detail === '{}' ? '' : <Name value={detail} most={110} />}</Table.Td>
    </Table.Tr>
  )
}
