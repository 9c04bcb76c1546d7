/** All definitions: what new runs get of each, how its runs are doing, and who changed it last. */
import { Button, Table, Text, TextInput } from '@mantine/core'
import { IconPlus, IconSchema, IconSearch } from '@tabler/icons-react'
import { useInfiniteQuery, useQueries } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { useMay } from '@/api/me'
import { count } from '@/format/numbers'
import { useCurrentRow } from '@/keyboard/use_current_row'
import { Empty } from '@/kit/Empty'
import { More } from '@/kit/More'
import { Page } from '@/kit/Page'
import { Trouble } from '@/kit/Trouble'
import { Name, Time } from '@/kit/Values'

import classes from './definitions.module.css'
import { countsQuery, definitionsQuery, type Listed, type RunCounts } from './queries'
import { AliasBadge, byImportance } from './states'

type Counts = RunCounts['counts'][number]

export function DefinitionsPage() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const mayPublish = useMay('operate')
  const found = useInfiniteQuery(definitionsQuery)
  const counts = useCounts(found.data?.pages.map((page) => page.definitions.map((each) => each.definition_id)) ?? [])
  const [typed, setTyped] = useState('')
  const all = found.data?.pages.flatMap((page) => page.definitions) ?? []
  const shown = all.filter((each) => matches(each, typed))
  const ids = shown.map((each) => each.definition_id)
  const open = (definitionId: string | undefined) =>
    definitionId !== undefined && void navigate({ to: '/definitions/$definitionId', params: { definitionId } })
  const current = useCurrentRow({ ids, view: typed, onOpen: (index) => open(ids[index]) })
  return (
    <Page
      title={t('definitions.title')}
      description={t('definitions.description')}
      actions={
        mayPublish && (
          <Button
            leftSection={<IconPlus size={14} aria-hidden />}
            renderRoot={(props) => <Link {...props} to="/definitions/new" />}
          >
            {t('definitions.new')}
          </Button>
        )
      }
    >
      {found.error && <Trouble error={found.error} retry={() => void found.refetch()} />}
      {all.length > 5 && (
        <TextInput
          size="xs"
          maw={280}
          leftSection={<IconSearch size={14} aria-hidden />}
          placeholder={t('definitions.search')}
          aria-label={t('definitions.search')}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      )}
      {found.isSuccess && shown.length === 0 ? (
        <Empty icon={IconSchema} title={t(typed ? 'definitions.noMatch' : 'definitions.empty')}>
          {t(typed ? 'definitions.noMatchHint' : 'definitions.emptyHint')}
        </Empty>
      ) : (
        <Table.ScrollContainer
          minWidth={680}
          type="native"
          tabIndex={0}
          role="group"
          aria-label={t('definitions.title')}
        >
          <Table aria-label={t('definitions.title')} className={classes.list} verticalSpacing={9}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('definitions.column.definition')}</Table.Th>
                <Table.Th>{t('definitions.column.inUse')}</Table.Th>
                <Table.Th className={classes.number}>{t('definitions.column.open')}</Table.Th>
                <Table.Th className={classes.number}>{t('definitions.column.failed')}</Table.Th>
                <Table.Th>{t('definitions.column.changed')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map((each, number) => (
                <Row
                  key={each.definition_id}
                  definition={each}
                  counts={counts.get(each.definition_id)}
                  isCurrent={number === current}
                />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <More found={found} />
    </Page>
  )
}

type RowProps = { definition: Listed; counts: Counts | undefined; isCurrent: boolean }

function Row({ definition, counts, isCurrent }: RowProps) {
  const { t } = useTranslation()
  const { definition_id: definitionId, title, aliases, version } = definition
  const isUnused = !Object.values(aliases).some((target) => target.version === version)
  return (
    <Table.Tr className={classes.row} aria-current={isCurrent || undefined} data-list-row>
      <Table.Td className={classes.name}>
        <Link to="/definitions/$definitionId" params={{ definitionId }} className={classes.link}>
          {definitionId}
        </Link>
        {title && (
          <Text size="xs" c="dimmed" truncate>
            <Name value={title} most={90} />
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <div className={classes.badges}>
          {byImportance(aliases).map(([name, target]) => (
            <AliasBadge key={name} name={name} target={target} withVersion inUse />
          ))}
          {isUnused && (
            <Text span size="xs" c="dimmed">
              {t('definitions.newer', { version })}
            </Text>
          )}
        </div>
      </Table.Td>
      <Table.Td className={classes.number}>
        {counts && (
          <RunsLink
            definition={definitionId}
            number={counts.open}
            label={t('definitions.openRuns', { count: counts.open })}
          />
        )}
      </Table.Td>
      <Table.Td className={classes.number}>
        {counts && (
          <RunsLink
            definition={definitionId}
            number={counts.failed}
            isFailed
            label={t('definitions.failedRuns', { count: counts.failed })}
          />
        )}
      </Table.Td>
      <Table.Td className={classes.changed}>
        <Time value={definition.changed_at} />
        <Text size="xs" c="dimmed">
          <Name value={definition.changed_by} most={30} />
        </Text>
      </Table.Td>
    </Table.Tr>
  )
}

type RunsProps = { definition: string; number: number; label: string; isFailed?: boolean }

function RunsLink({ definition, number, label, isFailed = false }: RunsProps) {
  if (number === 0) return <span className={classes.none}>0</span>
  return (
    <Link
      to="/runs"
      search={isFailed ? { definition, status: 'failed', time: 'ended', within: '7d' } : { definition }}
      className={isFailed ? classes.failed : classes.runs}
      aria-label={label}
    >
      {count(number)}
    </Link>
  )
}

/** The numbers of runs by definition, asked for page by page. */
function useCounts(pages: string[][]): ReadonlyMap<string, Counts> {
  const found = useQueries({ queries: pages.map((ids) => countsQuery(ids)) })
  return new Map(found.flatMap(({ data }) => data?.counts.map((each) => [each.definition_id, each] as const) ?? []))
}

function matches({ definition_id, title }: Listed, typed: string): boolean {
  return `${definition_id} ${title}`.toLowerCase().includes(typed.trim().toLowerCase())
}
