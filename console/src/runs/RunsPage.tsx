/** All runs, newest first: filters in the URL, selection for actions on many. */
import { Button, Group } from '@mantine/core'
import { IconPlayerPlay, IconTimeline } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { useMay } from '@/api/me'
import { useCommands } from '@/keyboard/use_commands'
import { useCurrentRow } from '@/keyboard/use_current_row'
import { Empty } from '@/kit/Empty'
import { Page } from '@/kit/Page'
import { Trouble } from '@/kit/Trouble'

import { ActDialog, type Asked } from './ActDialog'
import type { BulkAction } from './actions'
import { Filters } from './list/Filters'
import { RunList } from './list/RunList'
import { StartDialog } from './list/StartDialog'
import { type Run, runsQuery } from './queries'
import type { ListSearch } from './search'

const route = getRouteApi('/runs')
const ON_MANY = ['pause', 'resume', 'retry', 'cancel', 'abort'] as const satisfies BulkAction[]
const NONE: ReadonlySet<string> = new Set()

export function RunsPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = useNavigate()
  const found = useInfiniteQuery(runsQuery(search))
  const runs = found.data?.pages.flatMap((page) => page.runs) ?? []
  const [selected, setSelected] = useState(NONE)
  const [asked, setAsked] = useState<Asked>()
  const [isStarting, setStarting] = useState(false)
  const maySubmit = useMay('submit')
  const mayOperate = useMay('operate')

  const filter = (next: ListSearch) => {
    setSelected(NONE)
    void navigate({ to: '/runs', search: next, replace: true })
  }
  const open = (run: Run | undefined) => run && void navigate({ to: '/runs/$runId', params: { runId: run.run_id } })
  const select = (run: Run) => {
    const next = new Set(selected)
    if (!next.delete(run.run_id)) next.add(run.run_id)
    setSelected(next)
  }
  const current = useCurrentRow({
    ids: runs.map((run) => run.run_id),
    view: JSON.stringify(search),
    onOpen: (index) => open(runs[index]),
  })
  const at = runs[current]
  useCommands({
    'list.select': at && mayOperate ? () => select(at) : undefined,
    'list.clear': selected.size > 0 ? () => setSelected(NONE) : undefined,
  })

  const chosen = runs.filter((run) => selected.has(run.run_id))
  return (
    <Page
      fills
      title={t('runs.title')}
      actions={
        maySubmit && (
          <Button leftSection={<IconPlayerPlay size={14} aria-hidden />} onClick={() => setStarting(true)}>
            {t('runs.start.open')}
          </Button>
        )
      }
    >
      <Filters search={search} onChange={filter} />
      {chosen.length > 0 && (
        <Group gap="xs" role="toolbar" aria-label={t('runs.selected', { count: chosen.length })}>
          <span>{t('runs.selected', { count: chosen.length })}</span>
          {ON_MANY.map((action) => {
            const able = chosen.filter((run) => run.allowed.includes(action))
            return (
              <Button
                key={action}
                variant="default"
                disabled={able.length === 0}
                onClick={() =>
                  setAsked({ action, runIds: able.map((run) => run.run_id), refused: chosen.length - able.length })
                }
              >
                {t(`runs.do.${action}`)} {able.length > 0 && able.length < chosen.length && `(${able.length})`}
              </Button>
            )
          })}
          <Button variant="subtle" onClick={() => setSelected(NONE)}>
            {t('runs.clear')}
          </Button>
        </Group>
      )}
      {found.error && <Trouble error={found.error} retry={() => void found.refetch()} />}
      {found.isSuccess && runs.length === 0 ? (
        <Empty icon={IconTimeline} title={isFiltered(search) ? t('runs.empty.filtered') : t('runs.empty.title')}>
          {isFiltered(search) ? t('runs.empty.filteredHint') : t('runs.empty.hint')}
        </Empty>
      ) : (
        <RunList
          runs={runs}
          current={current}
          selected={selected}
          maySelect={mayOperate}
          onSelect={select}
          onSelectAll={(all) => setSelected(all ? new Set(runs.map((run) => run.run_id)) : NONE)}
          onEnd={() => found.hasNextPage && !found.isFetchingNextPage && void found.fetchNextPage()}
        />
      )}
      {asked && (
        <ActDialog
          asked={asked}
          onClose={(isDone) => {
            setAsked(undefined)
            if (isDone) setSelected(NONE)
          }}
        />
      )}
      {isStarting && <StartDialog definition={search.definition} onClose={() => setStarting(false)} />}
    </Page>
  )
}

function isFiltered(search: ListSearch): boolean {
  return Object.keys(search).length > 0
}
