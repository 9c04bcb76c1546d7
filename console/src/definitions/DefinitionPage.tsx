/** One definition: its versions, what new runs get, and one version in full. */
import { Button, Group, Tabs, Text, Title } from '@mantine/core'
import { IconArrowBackUp, IconPencil, IconPlayerPlay } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { Loading } from '@/kit/Loading'
import { Page, useTitle } from '@/kit/Page'
import { Trouble } from '@/kit/Trouble'
import { Name } from '@/kit/Values'
import { StartDialog } from '@/runs/list/StartDialog'

import { Changes } from './Changes'
import classes from './definitions.module.css'
import { Dependants } from './Dependants'
import { History } from './History'
import { MoveDialog } from './MoveDialog'
import type { Move } from './moving'
import { type Stored, type Version, versionQuery, type VersionPage, versionsQuery } from './queries'
import { type DefinitionSearch, TABS } from './search'
import { AliasBadge, byImportance } from './states'
import { Tests } from './Tests'
import { VersionBar } from './VersionBar'
import { VersionList } from './VersionList'

const Drawing = lazy(() => import('./Drawing').then((module) => ({ default: module.Drawing })))

const route = getRouteApi('/definitions/$definitionId')

export function DefinitionPage() {
  const { definitionId } = route.useParams()
  return <OneDefinition key={definitionId} definitionId={definitionId} />
}

function OneDefinition({ definitionId }: { definitionId: string }) {
  useTitle(definitionId)
  const search = route.useSearch()
  const found = useInfiniteQuery(versionsQuery(definitionId))
  const [page] = found.data?.pages ?? []
  const versions = found.data?.pages.flatMap((each) => each.versions) ?? []
  const number = search.version ?? page?.aliases.stable?.version ?? versions[0]?.version
  const stored = useQuery({ ...versionQuery(definitionId, number ?? 0), enabled: number !== undefined })
  const [move, setMove] = useState<Move>()
  const [starting, setStarting] = useState<{ version?: number }>()
  if (!page || number === undefined)
    return (
      <Page title={definitionId}>
        {found.error ? <Trouble error={found.error} retry={() => void found.refetch()} /> : <Loading height={240} />}
      </Page>
    )
  const latest = versions.find((each) => each.version === number)
  return (
    <div className={classes.page}>
      <Header
        definitionId={definitionId}
        page={page}
        title={String(stored.data?.body.title ?? '')}
        onMove={setMove}
        onStart={() => setStarting({})}
      />
      <div className={classes.split}>
        <VersionList
          definitionId={definitionId}
          versions={versions}
          aliases={page.aliases}
          shown={number}
          more={found.hasNextPage ? () => void found.fetchNextPage() : undefined}
        />
        <div className={classes.detail}>
          {stored.error && (
            <div className={classes.padded}>
              <Trouble error={stored.error} retry={() => void stored.refetch()} />
            </div>
          )}
          {stored.data && stored.data.version === number && (
            <>
              <VersionBar
                stored={stored.data}
                version={latest}
                aliases={page.aliases}
                onMove={setMove}
                onStart={(version) => setStarting({ version })}
              />
              <Parts stored={stored.data} versions={versions} page={page} search={search} onMove={setMove} />
            </>
          )}
        </div>
      </div>
      {move && <MoveDialog definitionId={definitionId} move={move} page={page} onClose={() => setMove(undefined)} />}
      {starting && (
        <StartDialog definition={definitionId} version={starting.version} onClose={() => setStarting(undefined)} />
      )}
    </div>
  )
}

type HeaderProps = {
  definitionId: string
  page: VersionPage
  title: string
  onMove: (move: Move) => void
  onStart: () => void
}

function Header({ definitionId, page, title, onMove, onStart }: HeaderProps) {
  const { t } = useTranslation()
  const actions = new Map(page.actions.map((each) => [each.name, each]))
  const rollBack = actions.get('roll_back')
  return (
    <header className={classes.header}>
      <Group justify="space-between" align="flex-start" gap="md" className={classes.head}>
        <div style={{ minWidth: 0 }}>
          <Group gap="sm">
            <Title order={1}>{definitionId}</Title>
            {byImportance(page.aliases).map(([name, target]) => (
              <AliasBadge key={name} name={name} target={target} withVersion />
            ))}
          </Group>
          {title && (
            <Text size="sm" c="dimmed">
              <Name value={title} most={140} />
            </Text>
          )}
        </div>
        <Group gap="xs" wrap="nowrap">
          {rollBack?.allowed && (
            <Button
              variant="default"
              leftSection={<IconArrowBackUp size={14} aria-hidden />}
              onClick={() => onMove({ kind: 'rollback' })}
            >
              {t(page.aliases.canary ? 'definitions.do.endCanary' : 'definitions.do.rollback')}
            </Button>
          )}
          {actions.get('publish')?.allowed && (
            <Button
              variant="default"
              leftSection={<IconPencil size={14} aria-hidden />}
              renderRoot={(props) => <Link {...props} to="/definitions/$definitionId/edit" params={{ definitionId }} />}
            >
              {t('definitions.do.edit')}
            </Button>
          )}
          {actions.get('start')?.allowed && (
            <Button leftSection={<IconPlayerPlay size={14} aria-hidden />} onClick={onStart}>
              {t('runs.start.open')}
            </Button>
          )}
        </Group>
      </Group>
    </header>
  )
}

type PartsProps = {
  stored: Stored
  versions: readonly Version[]
  page: VersionPage
  search: DefinitionSearch
  onMove: (move: Move) => void
}

function Parts({ stored, versions, page, search, onMove }: PartsProps) {
  const { t } = useTranslation()
  const navigate = route.useNavigate()
  const go = (next: DefinitionSearch) => void navigate({ search: next, replace: true })
  return (
    <Tabs
      className={classes.tabs}
      value={search.tab ?? 'graph'}
      keepMounted={false}
      onChange={(value) => go({ ...search, tab: TABS.find((each) => each === value) ?? 'graph' })}
    >
      <Tabs.List px={12}>
        {TABS.map((each) => (
          <Tabs.Tab key={each} value={each}>
            {t(`definitions.tab.${each}`)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="graph" className={classes.panel}>
        <Suspense>
          <Drawing stored={stored} search={search} onSearch={go} />
        </Suspense>
      </Tabs.Panel>
      <Tabs.Panel value="changes" className={classes.panel} tabIndex={0}>
        <Changes
          stored={stored}
          versions={versions}
          aliases={page.aliases}
          from={search.from}
          onFrom={(from) => go({ ...search, from })}
        />
      </Tabs.Panel>
      <Tabs.Panel value="tests" className={classes.panel} tabIndex={0}>
        <Tests key={stored.version} stored={stored} />
      </Tabs.Panel>
      <Tabs.Panel value="source" className={classes.panel} tabIndex={0}>
        <div className={classes.padded}>
          <pre className={classes.source}>{stored.source}</pre>
        </div>
      </Tabs.Panel>
      <Tabs.Panel value="history" className={classes.panel} tabIndex={0}>
        <History definitionId={stored.definition_id} aliases={page.aliases} onMove={onMove} />
      </Tabs.Panel>
      <Tabs.Panel value="dependants" className={classes.panel} tabIndex={0}>
        <Dependants definitionId={stored.definition_id} />
      </Tabs.Panel>
    </Tabs>
  )
}
