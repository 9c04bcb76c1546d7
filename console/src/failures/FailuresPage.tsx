/** Steps that failed for good, grouped by class of error and step: retry one or all of a group. */
import { Badge, Button, Group as Row, Stack, Text, UnstyledButton } from '@mantine/core'
import { IconChevronDown, IconChevronRight, IconMoodCheck, IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { count } from '@/format/numbers'
import { useCommands } from '@/keyboard/use_commands'
import { useCurrentRow } from '@/keyboard/use_current_row'
import { Dialog } from '@/kit/Dialog'
import { Empty } from '@/kit/Empty'
import { Page } from '@/kit/Page'
import { Trouble } from '@/kit/Trouble'
import { Name, Time } from '@/kit/Values'

import classes from './FailuresPage.module.css'
import { Letters } from './Letters'
import { Outcome } from './Outcome'
import { type Group, groupsQuery, useRetryLetters } from './queries'
import type { FailuresSearch } from './search'

const route = getRouteApi('/failures')

export function FailuresPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = useNavigate()
  const found = useQuery(groupsQuery)
  const [asked, setAsked] = useState<Group>()
  const groups = found.data?.groups ?? []
  const toggle = (group: Group) =>
    void navigate({ to: '/failures', search: isOpen(group, search) ? {} : searchOf(group), replace: true })
  const current = useCurrentRow({
    ids: groups.map(keyOf),
    onOpen: (index) => groups[index] && toggle(groups[index]),
  })
  useCommands({
    'list.clear':
      search.error === undefined ? undefined : () => void navigate({ to: '/failures', search: {}, replace: true }),
  })
  return (
    <Page
      title={t('failures.title')}
      badge={
        found.data &&
        found.data.letters > 0 && (
          <Badge color="red" c="var(--mantine-color-text)">
            {count(found.data.letters)}
          </Badge>
        )
      }
      description={t('failures.description')}
    >
      {found.error && <Trouble error={found.error} retry={() => void found.refetch()} />}
      {found.isSuccess && groups.length === 0 && (
        <Empty icon={IconMoodCheck} title={t('failures.empty')}>
          {t('failures.emptyHint')}
        </Empty>
      )}
      <ul className={classes.groups}>
        {groups.map((group, number) => (
          <li key={keyOf(group)} className={classes.group} aria-current={number === current || undefined} data-list-row>
            <GroupRow
              group={group}
              isOpen={isOpen(group, search)}
              mayRetry={found.data?.allowed ?? false}
              onToggle={() => toggle(group)}
              onRetry={() => setAsked(group)}
            />
            {isOpen(group, search) && <Letters group={group} mayResolve={found.data?.allowed ?? false} />}
          </li>
        ))}
      </ul>
      {asked && <RetryAll group={asked} onClose={() => setAsked(undefined)} />}
    </Page>
  )
}

type RowProps = { group: Group; isOpen: boolean; mayRetry: boolean; onToggle: () => void; onRetry: () => void }

function GroupRow({ group, isOpen: open, mayRetry, onToggle, onRetry }: RowProps) {
  const { t } = useTranslation()
  const Chevron = open ? IconChevronDown : IconChevronRight
  return (
    <Row wrap="nowrap" gap="md" className={classes.row}>
      <UnstyledButton className={classes.open} onClick={onToggle} aria-expanded={open}>
        <Chevron size={16} className={classes.chevron} aria-hidden />
        <div className={classes.texts}>
          <div className={classes.title}>
            <b>{group.error_type}</b>{' '}
            <span className={classes.where}>
              {t('failures.in', { step: group.step_id, definition: group.definition_id })}
            </span>
          </div>
          <div className={classes.message}>
            <Name value={group.message} most={160} />
          </div>
          <Row gap={6} mt={4}>
            <Badge color="red" c="var(--mantine-color-text)">
              {t('failures.letters', { count: group.letters })}
            </Badge>
            {group.parked > 0 && (
              <Badge color="grape" c="var(--mantine-color-text)">
                {t('failures.parked', { count: group.parked })}
              </Badge>
            )}
            {group.failed_again > 0 && (
              <Badge color="orange" c="var(--mantine-color-text)">
                {t('failures.failedAgain', { count: group.failed_again })}
              </Badge>
            )}
            {group.retryable > 0 && (
              <Badge color="blue" c="var(--mantine-color-text)">
                {t('failures.mayPass', { count: group.retryable })}
              </Badge>
            )}
            <Text size="xs" c="dimmed">
              {t('failures.latest')} <Time value={group.newest} />
            </Text>
          </Row>
        </div>
      </UnstyledButton>
      {mayRetry && (
        <Button
          variant="default"
          leftSection={<IconRefresh size={14} aria-hidden />}
          onClick={onRetry}
          className={classes.retry}
        >
          {t('failures.retryAll', { count: group.letters })}
        </Button>
      )}
    </Row>
  )
}

function RetryAll({ group, onClose }: { group: Group; onClose: () => void }) {
  const { t } = useTranslation()
  const retry = useRetryLetters()
  return (
    <Dialog onClose={onClose} title={t('failures.ask', { count: group.letters })}>
      <Stack gap="sm">
        <Text size="sm">{t('failures.means', { step: group.step_id, count: group.runs })}</Text>
        {group.failed_again > 0 && (
          <Text size="sm" c="orange">
            {t('failures.failedAgainHint', { count: group.failed_again })}
          </Text>
        )}
        {retry.error && <Trouble error={retry.error} />}
        {retry.data && <Outcome result={retry.data} />}
        <Row justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus={retry.isSuccess || undefined}>
            {retry.isSuccess ? t('app.close') : t('app.cancel')}
          </Button>
          {!retry.isSuccess && (
            <Button loading={retry.isPending} onClick={() => retry.mutate({ group })} data-autofocus>
              {t('failures.retryAll', { count: group.letters })}
            </Button>
          )}
        </Row>
      </Stack>
    </Dialog>
  )
}

function keyOf(group: Group): string {
  return [group.error_type, group.definition_id, group.step_id].join('\n')
}

function searchOf(group: Group): FailuresSearch {
  return { error: group.error_type, definition: group.definition_id, step: group.step_id }
}

function isOpen(group: Group, search: FailuresSearch): boolean {
  return search.error === group.error_type && search.definition === group.definition_id && search.step === group.step_id
}
