import { ActionIcon, Anchor, Group, Stack, Text } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { basePath } from '@/app/base'
import { shortened, visible, visibleLines } from '@/format/text'
import { Name } from '@/kit/Values'

import type { Json } from './fields'
import { documentQuery, pageQuery } from './queries'
import { decideRoute } from './route'
import classes from './Subject.module.css'

const MOST_SHOWN = 2000

/** The data that the definition shows with the question. */
export function Facts({ show }: { show: Record<string, unknown> }) {
  const rows = Object.entries(show)
  if (rows.length === 0) return null
  return (
    <dl className={classes.facts}>
      {rows.map(([name, value]) => (
        <Fact key={name} name={name} value={value as Json} />
      ))}
    </dl>
  )
}

function Fact({ name, value }: { name: string; value: Json }) {
  const { t } = useTranslation()
  const text = textOf(value)
  return (
    <>
      <dt>{visible(name.replaceAll('_', ' '))}</dt>
      <dd>
        {value === null || value === '' ? (
          <Text c="dimmed">{t('decide.none')}</Text>
        ) : (
          visibleLines(shortened(text, MOST_SHOWN))
        )}
      </dd>
    </>
  )
}

/** A text as it is, texts line by line, and other values as JSON. */
function textOf(value: Json): string {
  if (typeof value === 'string') return value
  const isTexts = Array.isArray(value) && value.every((each) => typeof each === 'string')
  return isTexts ? value.join('\n') : JSON.stringify(value, null, 2)
}

/** The document that the question is about: a page at a time, as the server draws it. */
export function DocumentPages({ documentId }: { documentId: string }) {
  const { t } = useTranslation()
  const { page = 1 } = decideRoute.useSearch()
  const navigate = decideRoute.useNavigate()
  const [isDrawn, setDrawn] = useState(true)
  const document = useQuery(documentQuery(documentId))
  const hasNext = useQuery({ ...pageQuery(documentId, page + 1), enabled: isDrawn }).data ?? false
  const go = (to: number) => void navigate({ search: to === 1 ? {} : { page: to }, replace: true })
  const url = `${basePath}/v1/documents/${encodeURIComponent(documentId)}`
  const name = document.data?.file_name ?? ''
  if (!isDrawn) return <NotDrawn name={name} url={url} />
  return (
    <Stack gap="xs">
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" truncate>
          <Name value={name} />
        </Text>
        <Group gap={4} wrap="nowrap">
          <ActionIcon aria-label={t('decide.previousPage')} disabled={page === 1} onClick={() => go(page - 1)}>
            <IconChevronLeft size={16} />
          </ActionIcon>
          <Text size="sm">{t('decide.page', { page })}</Text>
          <ActionIcon aria-label={t('decide.nextPage')} disabled={!hasNext} onClick={() => go(page + 1)}>
            <IconChevronRight size={16} />
          </ActionIcon>
        </Group>
      </Group>
      <img
        className={classes.page}
        src={`${url}/pages/${page}.png`}
        alt={t('decide.pageOf', { page, name: visible(name) })}
        onError={() => (page === 1 ? setDrawn(false) : go(1))}
      />
    </Stack>
  )
}

function NotDrawn({ name, url }: { name: string; url: string }) {
  const { t } = useTranslation()
  return (
    <Text size="sm">
      <Name value={name} /> · <Anchor href={`${url}/original`}>{t('decide.original')}</Anchor>
    </Text>
  )
}
