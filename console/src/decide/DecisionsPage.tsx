import { Anchor, Badge, Table, Text } from '@mantine/core'
import { IconMessageQuestion } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { useCurrentRow } from '@/keyboard/use_current_row'
import { Empty } from '@/kit/Empty'
import { Page } from '@/kit/Page'
import { Trouble } from '@/kit/Trouble'
import { Name, Time } from '@/kit/Values'

import { questionsQuery } from './queries'

/** The open questions of runs to people. */
export function DecisionsPage() {
  const { t } = useTranslation()
  const questions = useQuery(questionsQuery)
  const found = questions.data?.reviews ?? []
  return (
    <Page
      title={t('decisions.title')}
      badge={found.length > 0 && <Badge color="gray">{found.length}</Badge>}
      description={t('decisions.description')}
    >
      {questions.error && <Trouble error={questions.error} retry={() => void questions.refetch()} />}
      {questions.isSuccess && found.length === 0 && (
        <Empty icon={IconMessageQuestion} title={t('decisions.none')}>
          {t('decisions.noneHint')}
        </Empty>
      )}
      {found.length > 0 && <Questions found={found} />}
    </Page>
  )
}

function Questions({ found }: { found: Model<'Review'>[] }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const ids = found.map((review) => review.review_id)
  const open = (reviewId: string | undefined) =>
    reviewId !== undefined && void navigate({ to: '/decide/$reviewId', params: { reviewId } })
  const current = useCurrentRow({ ids, onOpen: (index) => open(ids[index]) })
  return (
    <Table.ScrollContainer minWidth={320}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('decisions.question')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('decisions.queue')}</Table.Th>
            <Table.Th visibleFrom="md">{t('decisions.run')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('decisions.asked')}</Table.Th>
            <Table.Th>{t('decisions.due')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {found.map((review, index) => (
            <Row key={review.review_id} review={review} isCurrent={index === current} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

const NOWRAP = { whiteSpace: 'nowrap' } as const

function Row({ review, isCurrent }: { review: Model<'Review'>; isCurrent: boolean }) {
  const { t } = useTranslation()
  return (
    <Table.Tr aria-current={isCurrent || undefined} data-list-row>
      <Table.Td>
        <Anchor
          renderRoot={(props) => <Link {...props} to="/decide/$reviewId" params={{ reviewId: review.review_id }} />}
          size="sm"
          fw={500}
        >
          <Name value={review.title} />
        </Anchor>
        {review.claimed_by && (
          <Text size="xs" c="dimmed">
            {t('decisions.claimed')} <Name value={review.claimed_by} />
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">{review.queue}</Table.Td>
      <Table.Td visibleFrom="md">
        <Name value={review.run_id} most={24} />
      </Table.Td>
      <Table.Td visibleFrom="sm" style={NOWRAP}>
        <Time value={review.created_at} />
      </Table.Td>
      <Table.Td style={NOWRAP}>{review.due_at ? <Time value={review.due_at} /> : <Text c="dimmed">–</Text>}</Table.Td>
    </Table.Tr>
  )
}
