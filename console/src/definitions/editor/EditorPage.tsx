/** The pages that write a definition: a new one, or the next version of a published one. */
import { getRouteApi } from '@tanstack/react-router'
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { Loading } from '@/kit/Loading'
import { Page, useTitle } from '@/kit/Page'
import { Trouble } from '@/kit/Trouble'

import { newestQuery, versionQuery } from './queries'
import { Workspace } from './Workspace'

const route = getRouteApi('/definitions/$definitionId/edit')

const EXAMPLE = `# A definition is a list of steps. Ctrl+Space suggests what can be written here.
dsl: 1
id: my_process
title: What it is for

steps:
  - id: greet
    title: Say hello
    handler: echo
    config: {value: Hello}
`

export function NewDefinitionPage() {
  const { t } = useTranslation()
  const [opened, setOpened] = useState(0)
  useTitle(t('editor.new'))
  return (
    <Workspace
      key={opened}
      definitionId=""
      published={EXAMPLE}
      version={0}
      newest={0}
      onReload={() => setOpened(opened + 1)}
    />
  )
}

export function EditDefinitionPage() {
  const { t } = useTranslation()
  const { definitionId } = route.useParams()
  const { version } = route.useSearch()
  const newest = useQuery(newestQuery(definitionId))
  const [opened, setOpened] = useState(0)
  useTitle(t('editor.edit', { id: definitionId }))
  if (newest.data === undefined) return <Opening definitionId={definitionId} found={newest} />
  return (
    <OpenedVersion
      key={`${definitionId} ${version} ${opened}`}
      definitionId={definitionId}
      version={version ?? newest.data}
      newest={newest.data}
      onReload={() => setOpened(opened + 1)}
    />
  )
}

type OpenedProps = { definitionId: string; version: number; newest: number; onReload: () => void }

/** The version that was opened stays, whatever others publish. */
function OpenedVersion({ definitionId, version, newest, onReload }: OpenedProps) {
  const [opened] = useState(version)
  const stored = useQuery(versionQuery(definitionId, opened))
  if (!stored.data) return <Opening definitionId={definitionId} found={stored} />
  return (
    <Workspace
      definitionId={definitionId}
      published={stored.data.source}
      version={opened}
      newest={newest}
      onReload={onReload}
    />
  )
}

/** The page until its definition is there, or why it is not. */
function Opening({ definitionId, found }: { definitionId: string; found: UseQueryResult }) {
  const { t } = useTranslation()
  return (
    <Page title={t('editor.edit', { id: definitionId })}>
      {found.error ? <Trouble error={found.error} retry={() => void found.refetch()} /> : <Loading height={240} />}
    </Page>
  )
}
