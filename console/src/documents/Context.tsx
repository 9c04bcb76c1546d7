import { Anchor, Stack, Text } from '@mantine/core'
import { IconCheck, IconClock, IconX, type Icon } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { Loading } from '@/kit/Loading'
import { State } from '@/kit/State'
import { Trouble } from '@/kit/Trouble'
import { Name, Time } from '@/kit/Values'
import { StatusBadge } from '@/runs/states'

import { reviewQuery, runsQuery } from './queries'

type Look = { icon: Icon; color: string }
type ReviewStatus = Model<'FullReview'>['status']

/** How the document's review stands. */
export function ReviewStanding({ documentId }: { documentId: string }) {
  const { t } = useTranslation()
  const { data } = useQuery(reviewQuery(documentId))
  if (!data) return <>{t('documents.noReview')}</>
  const words = t('documents.reviewStates', { returnObjects: true }) as Record<string, string>
  return <State {...lookOf(data.status)}>{words[data.status] ?? data.status}</State>
}

function lookOf(status: ReviewStatus): Look {
  switch (status) {
    case 'approved':
      return { icon: IconCheck, color: 'teal' }
    case 'rejected':
      return { icon: IconX, color: 'red' }
    default:
      return { icon: IconClock, color: 'blue' }
  }
}

/** The runs of the document, latest first. */
export function Runs({ documentId }: { documentId: string }) {
  const { t } = useTranslation()
  const { data, error, refetch } = useQuery(runsQuery(documentId))
  if (error) return <Trouble error={error} retry={() => void refetch()} />
  if (!data) return <Loading height={60} />
  if (data.runs.length === 0) return <Text size="sm">{t('documents.noRuns')}</Text>
  return (
    <Stack gap="sm">
      {data.runs.map((run) => (
        <Stack key={run.run_id} gap={2} align="flex-start">
          <Anchor size="sm" component={Link} to={`/runs/${encodeURIComponent(run.run_id)}`}>
            <Name value={`${run.definition_id} v${run.version}`} />
          </Anchor>
          <StatusBadge status={run.status} />
          <Text size="xs" c="dimmed">
            <Time value={run.started_at} />
          </Text>
        </Stack>
      ))}
    </Stack>
  )
}
