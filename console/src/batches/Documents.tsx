import { Anchor, Group, Stack, Table, Text, Title } from '@mantine/core'
import { IconFiles } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import { useCurrentRow } from '@/keyboard/use_current_row'
import { Empty } from '@/kit/Empty'
import { More } from '@/kit/More'
import { Trouble } from '@/kit/Trouble'
import { Name, Time } from '@/kit/Values'

import classes from './batches.module.css'
import { type Batch, type BatchDocument, documentsQuery } from './queries'
import { StateOfDocument } from './states'

const route = getRouteApi('/batches/$batchId')

/** The documents of a batch in their order, all or those in one state. */
export function Documents({ batch }: { batch: Batch }) {
  const { t } = useTranslation()
  const { state } = route.useSearch()
  const found = useInfiniteQuery(documentsQuery(batch.batch_id, state))
  const navigate = useNavigate()
  const documents = found.data?.pages.flatMap((page) => page.documents) ?? []
  const ids = documents.map((each) => each.document_id)
  const open = (documentId: string | undefined) =>
    documentId !== undefined && void navigate({ to: '/documents/$documentId', params: { documentId } })
  const current = useCurrentRow({ ids, view: state ?? '', onOpen: (index) => open(ids[index]) })
  return (
    <Stack gap="xs" component="section" aria-label={t('batches.documents')}>
      <Group justify="space-between">
        <Title order={2}>{t('batches.documents')}</Title>
        {batch.duplicates > 0 && (
          <Text size="sm" c="dimmed">
            {t('batches.duplicates', { count: batch.duplicates })}
          </Text>
        )}
      </Group>
      {found.error && <Trouble error={found.error} retry={() => void found.refetch()} />}
      {found.isSuccess && documents.length === 0 && (
        <Empty icon={IconFiles} title={t(state ? 'batches.noneInState' : 'batches.noDocuments')} />
      )}
      {documents.length > 0 && (
        <Table.ScrollContainer minWidth={680}>
          <Table highlightOnHover>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('batches.place')}</Table.Th>
                <Table.Th>{t('batches.state')}</Table.Th>
                <Table.Th>{t('batches.run')}</Table.Th>
                <Table.Th>{t('batches.ended')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {documents.map((each, index) => (
                <Row key={each.document_id} document={each} isCurrent={index === current} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <More found={found} />
    </Stack>
  )
}

function Row({ document, isCurrent }: { document: BatchDocument; isCurrent: boolean }) {
  const { t } = useTranslation()
  return (
    <Table.Tr aria-current={isCurrent || undefined} data-list-row>
      <Table.Td>
        <Anchor
          renderRoot={(props) => (
            <Link {...props} to="/documents/$documentId" params={{ documentId: document.document_id }} />
          )}
          size="sm"
        >
          <Name value={document.place} most={80} />
        </Anchor>
        {document.error_message !== null && (
          <Text size="xs" className={classes.error}>
            <Name value={document.error_message} most={140} />
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <StateOfDocument state={document.state} />
      </Table.Td>
      <Table.Td>
        {document.run_id === null ? (
          '–'
        ) : (
          <Anchor
            renderRoot={(props) => <Link {...props} to="/runs/$runId" params={{ runId: document.run_id ?? '' }} />}
            size="sm"
            aria-label={t('batches.runOf', { place: document.place })}
          >
            {t('batches.openRun')}
          </Anchor>
        )}
      </Table.Td>
      <Table.Td className={classes.line}>
        {document.ended_at === null ? '–' : <Time value={document.ended_at} />}
      </Table.Td>
    </Table.Tr>
  )
}
