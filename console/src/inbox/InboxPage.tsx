import { Button, Menu, Skeleton, Stack } from '@mantine/core'
import { IconChevronDown, IconUpload } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { useMay } from '@/api/me'
import { type Current, moved, placeOf } from '@/keyboard/current_row'
import { useCommands } from '@/keyboard/use_commands'
import { Page } from '@/kit/Page'
import { Trouble } from '@/kit/Trouble'

import type { Wanted } from './approval'
import { ApproveDialog } from './ApproveDialog'
import { useOpen } from './DocumentLink'
import { focusRows } from './focus'
import { grouped } from './grouping'
import { Nothing } from './Nothing'
import { placeIn } from './places'
import { countsQuery, rowsQuery } from './queries'
import { Rows } from './Rows'
import { filtersOf, type InboxSearch } from './search'
import { SelectionBar } from './SelectionBar'
import { numberOf, Tabs } from './Tabs'
import { Toolbar } from './Toolbar'
import { choose } from './upload/add'
import { DropZone } from './upload/DropZone'
import { UploadPanel } from './upload/UploadPanel'
import { useSelection } from './use_selection'

/** Every document by what it waits for. */
export function InboxPage() {
  const { t } = useTranslation()
  const search = useSearch({ strict: false }) as InboxSearch
  const maySubmit = useMay('submit')
  const counts = useQuery(countsQuery(search)).data
  useCommands({ 'general.upload': maySubmit ? () => choose() : undefined })
  return (
    <Page title={t('inbox.title')} fills actions={maySubmit && <UploadMenu />}>
      <Stack gap={0} flex={1} mih={0}>
        <Tabs search={search} counts={counts} />
        <Toolbar search={search} />
        <Documents key={JSON.stringify(filtersOf(search))} search={search} counts={counts} />
      </Stack>
      {maySubmit && <DropZone />}
      <UploadPanel />
    </Page>
  )
}

type Counts = Parameters<typeof numberOf>[1]

function Documents({ search, counts }: { search: InboxSearch; counts: Counts }) {
  const open = useOpen(search)
  const mayReview = useMay('review')
  const view = JSON.stringify(filtersOf(search))
  const found = useInfiniteQuery(rowsQuery(search))
  const lines = useMemo(() => grouped(found.data?.pages.flatMap((page) => page.documents) ?? []), [found.data])
  const [kept, setKept] = useState<Current | undefined>(() => placeIn(view)?.active)
  const selection = useSelection(view)
  const [approving, setApproving] = useState<Wanted>()
  const ids = lines.map(({ row }) => row.document_id)
  const active = kept ? placeOf(kept, ids) : -1
  const tab = search.status ?? 'attention'
  const canSelect = mayReview && tab === 'attention' && lines.length > 0
  const total = numberOf(tab, counts)
  const more = useCallback(() => void (found.isFetching || found.fetchNextPage()), [found])

  const current = lines[active]?.row
  const activate = (index: number) => {
    const row = moved(index, 0, ids)
    if (row) setKept(row)
  }
  const move = (by: number) => {
    activate(active + by)
    focusRows()
  }
  const approve = () => {
    const chosen = lines.filter(({ row }) => selection.ids.has(row.document_id)).map(({ row }) => row.review_id)
    const own = chosen.filter((id) => id !== null)
    setApproving(selection.isEverything ? { matching: search.text ? { text: search.text } : {} } : { review_ids: own })
  }
  useCommands({
    'list.next': lines.length > 0 ? () => move(1) : undefined,
    'list.previous': lines.length > 0 ? () => move(-1) : undefined,
    'list.first': lines.length > 0 ? () => move(-Infinity) : undefined,
    'list.last': lines.length > 0 ? () => move(Infinity) : undefined,
    'list.open': current && (() => open(current)),
    'list.select': canSelect && current ? () => selection.toggle(current.document_id) : undefined,
    'list.approve': canSelect && selection.ids.size > 0 ? approve : undefined,
    'list.clear': selection.ids.size > 0 ? selection.clear : undefined,
  })
  useEffect(() => {
    if (placeIn(view)?.active) focusRows()
  }, [view])

  return (
    <>
      {found.isError && <Trouble error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && <Loading />}
      {found.isSuccess && lines.length === 0 && <Nothing search={search} counts={counts} />}
      {lines.length > 0 && (
        <Rows
          lines={lines}
          total={Math.max(total, lines.length)}
          view={view}
          search={search}
          active={active}
          onActive={activate}
          selected={selection.ids}
          onSelect={selection.toggle}
          onSelectAll={canSelect ? () => selection.toggleAll(ids) : undefined}
          hasMore={found.hasNextPage}
          isLoadingMore={found.isFetchingNextPage}
          onMore={more}
        />
      )}
      {selection.ids.size > 0 && (
        <SelectionBar selection={selection} loaded={lines.length} total={total} onApprove={approve} />
      )}
      {approving && (
        <ApproveDialog
          wanted={approving}
          onClose={(tried) => {
            setApproving(undefined)
            if (tried.length > 0) selection.remove(tried)
            focusRows()
          }}
        />
      )}
    </>
  )
}

function UploadMenu() {
  const { t } = useTranslation()
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          leftSection={<IconUpload size={15} aria-hidden />}
          rightSection={<IconChevronDown size={13} aria-hidden />}
        >
          {t('inbox.upload.button')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => choose()}>{t('inbox.upload.files')}</Menu.Item>
        <Menu.Item onClick={() => choose({ folder: true })}>{t('inbox.upload.folder')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function Loading() {
  const { t } = useTranslation()
  return (
    <Stack gap={10} pt="xs" role="status" aria-label={t('app.loading')}>
      {Array.from({ length: 8 }, (_, index) => (
        <Skeleton key={index} height={26} />
      ))}
    </Stack>
  )
}
