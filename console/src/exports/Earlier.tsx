import { ActionIcon, Anchor, Progress, Stack, Table, Text, Title, Tooltip } from '@mantine/core'
import {
  IconAlertTriangle,
  IconCheck,
  IconDownload,
  IconFileExport,
  IconHourglass,
  IconSend,
} from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'

import { bytes, count } from '@/format/numbers'
import { Empty } from '@/kit/Empty'
import { More } from '@/kit/More'
import { State } from '@/kit/State'
import { Trouble } from '@/kit/Trouble'
import { Name, Time } from '@/kit/Values'

import classes from './ExportsPage.module.css'
import { fileAddress, saveFile } from './download'
import { type Export, exportsQuery } from './queries'

/** Earlier exports, whose files can be downloaded again. `saved`: those whose file this page saves when it is ready. */
export function Earlier({ saved }: { saved: readonly string[] }) {
  const { t } = useTranslation()
  const found = useInfiniteQuery(exportsQuery)
  const exports = found.data?.pages.flatMap((page) => page.exports) ?? []
  useSaving(exports, saved)
  return (
    <Stack gap="xs" component="section" aria-label={t('exports.earlier')}>
      <Title order={2}>{t('exports.earlier')}</Title>
      {found.error && <Trouble error={found.error} retry={() => void found.refetch()} />}
      {found.data && exports.length === 0 && (
        <Empty icon={IconFileExport} title={t('exports.none')}>
          {t('exports.noneHint')}
        </Empty>
      )}
      {exports.length > 0 && (
        <Table.ScrollContainer minWidth={720}>
          <Table highlightOnHover>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('exports.state')}</Table.Th>
                <Table.Th>{t('exports.file')}</Table.Th>
                <Table.Th className={classes.right}>{t('exports.count')}</Table.Th>
                <Table.Th className={classes.right}>{t('exports.size')}</Table.Th>
                <Table.Th>{t('exports.ordered')}</Table.Th>
                <Table.Th>{t('exports.by')}</Table.Th>
                <Table.Th aria-label={t('exports.download')} />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {exports.map((each) => (
                <Row key={each.export_id} found={each} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <More found={found} />
    </Stack>
  )
}

function Row({ found }: { found: Export }) {
  const { t } = useTranslation()
  const hasFile = found.size_bytes !== null
  return (
    <Table.Tr>
      <Table.Td>
        <Standing found={found} />
      </Table.Td>
      <Table.Td>
        <Stack gap={0}>
          {hasFile ? (
            <Anchor size="sm" href={fileAddress(found.export_id)} download={found.file_name}>
              {found.file_name}
            </Anchor>
          ) : (
            <Text size="sm">{found.file_name}</Text>
          )}
          {found.wanted.to.format === 'webhook' && (
            <Text size="xs" c="dimmed">
              <Name value={found.wanted.to.url} />
            </Text>
          )}
          {found.error && (
            <Text size="xs" className={classes.error}>
              <Name value={found.error} most={160} />
            </Text>
          )}
        </Stack>
      </Table.Td>
      <Table.Td className={`${classes.right} ${classes.line}`}>{count(found.documents)}</Table.Td>
      <Table.Td className={`${classes.right} ${classes.line}`}>
        {found.size_bytes === null ? '–' : bytes(found.size_bytes)}
      </Table.Td>
      <Table.Td className={classes.line}>
        <Time value={found.created_at} />
      </Table.Td>
      <Table.Td>
        <Name value={found.created_by} />
      </Table.Td>
      <Table.Td>
        {hasFile && (
          <Tooltip label={t('exports.downloadOf', { name: found.file_name })}>
            <ActionIcon
              component="a"
              href={fileAddress(found.export_id)}
              download={found.file_name}
              aria-label={t('exports.downloadOf', { name: found.file_name })}
            >
              <IconDownload size={17} stroke={1.7} aria-hidden />
            </ActionIcon>
          </Tooltip>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function Standing({ found }: { found: Export }) {
  const { t } = useTranslation()
  const word = t(`exports.states.${found.status}`)
  switch (found.status) {
    case 'ready':
      return (
        <State icon={IconCheck} color="teal">
          {word}
        </State>
      )
    case 'failed':
      return (
        <State icon={IconAlertTriangle} color="red">
          {word}
        </State>
      )
    default:
      return (
        <Stack gap={4} miw={150}>
          <State icon={found.status === 'sending' ? IconSend : IconHourglass} color="blue">
            {t('exports.progress', { word, done: count(found.done), all: count(found.documents) })}
          </State>
          <Progress size="xs" value={(100 * found.done) / Math.max(found.documents, 1)} aria-label={word} />
        </Stack>
      )
  }
}

/** Saves the files of this page's own exports, each once, as soon as they are ready. */
function useSaving(exports: readonly Export[], wanted: readonly string[]): void {
  const done = useRef(new Set<string>())
  useEffect(() => {
    for (const each of exports) {
      const isFile = each.wanted.to.format !== 'webhook'
      if (each.status === 'ready' && isFile && wanted.includes(each.export_id) && !done.current.has(each.export_id)) {
        done.current.add(each.export_id)
        saveFile(each.export_id, each.file_name)
      }
    }
  }, [exports, wanted])
}
