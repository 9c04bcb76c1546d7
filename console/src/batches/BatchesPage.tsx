/** The batches, newest first, with their progress. */
import { Anchor, Group, Stack, Table, Text } from '@mantine/core'
import { IconStack2 } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import { count } from '@/format/numbers'
import { useCurrentRow } from '@/keyboard/use_current_row'
import { Empty } from '@/kit/Empty'
import { More } from '@/kit/More'
import { Page } from '@/kit/Page'
import { Trouble } from '@/kit/Trouble'
import { Name, Time } from '@/kit/Values'

import classes from './batches.module.css'
import { type Batch, batchesQuery } from './queries'
import { BatchState, ProgressBar } from './states'
import { progressOf, timeLeft } from './words'

export function BatchesPage() {
  const { t } = useTranslation()
  const found = useInfiniteQuery(batchesQuery)
  const navigate = useNavigate()
  const batches = found.data?.pages.flatMap((page) => page.batches) ?? []
  const ids = batches.map((each) => each.batch_id)
  const open = (batchId: string | undefined) =>
    batchId !== undefined && void navigate({ to: '/batches/$batchId', params: { batchId } })
  const current = useCurrentRow({ ids, onOpen: (index) => open(ids[index]) })
  return (
    <Page title={t('batches.title')} description={t('batches.description')}>
      {found.error && <Trouble error={found.error} retry={() => void found.refetch()} />}
      {found.data && batches.length === 0 && (
        <Empty icon={IconStack2} title={t('batches.none')}>
          {t('batches.noneHint')}
        </Empty>
      )}
      {batches.length > 0 && (
        <Table.ScrollContainer minWidth={760}>
          <Table highlightOnHover verticalSpacing="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('batches.batch')}</Table.Th>
                <Table.Th>{t('batches.state')}</Table.Th>
                <Table.Th miw={200}>{t('batches.documents')}</Table.Th>
                <Table.Th className={classes.right}>{t('batches.states.failed')}</Table.Th>
                <Table.Th>{t('batches.ordered')}</Table.Th>
                <Table.Th>{t('batches.by')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {batches.map((each, index) => (
                <Row key={each.batch_id} batch={each} isCurrent={index === current} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <More found={found} />
    </Page>
  )
}

function Row({ batch, isCurrent }: { batch: Batch; isCurrent: boolean }) {
  const { t } = useTranslation()
  return (
    <Table.Tr aria-current={isCurrent || undefined} data-list-row>
      <Table.Td>
        <Anchor
          renderRoot={(props) => <Link {...props} to="/batches/$batchId" params={{ batchId: batch.batch_id }} />}
          size="sm"
          fw={500}
        >
          <Name value={batch.name || batch.batch_id} />
        </Anchor>
      </Table.Td>
      <Table.Td>
        <BatchState batch={batch} />
      </Table.Td>
      <Table.Td>
        <Stack gap={4}>
          <Group gap="xs" justify="space-between" wrap="nowrap">
            <Text size="sm" className={classes.line}>
              {progressOf(batch, t)}
            </Text>
            <Text size="xs" c="dimmed" className={classes.line}>
              {timeLeft(batch, t)}
            </Text>
          </Group>
          <ProgressBar batch={batch} size="xs" />
        </Stack>
      </Table.Td>
      <Table.Td className={classes.right}>{batch.counts.failed > 0 ? count(batch.counts.failed) : '–'}</Table.Td>
      <Table.Td className={classes.line}>
        <Time value={batch.created_at} />
      </Table.Td>
      <Table.Td>
        <Name value={batch.created_by} />
      </Table.Td>
    </Table.Tr>
  )
}
