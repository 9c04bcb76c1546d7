import { Anchor, Stack, Text } from '@mantine/core'
import {
  IconAlertTriangle,
  IconCheck,
  IconClock,
  IconCircleDashed,
  IconPlayerPause,
  IconPlayerStop,
  IconX,
  type Icon,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { useMay } from '@/api/me'
import { Loading } from '@/kit/Loading'
import { State } from '@/kit/State'
import { Trouble } from '@/kit/Trouble'
import { Name, Time } from '@/kit/Values'

import { reviewQuery, runsQuery } from './queries'

type Look = { icon: Icon; color: string }
type RunStatus = Model<'RunSummary'>['status']
type ReviewStatus = Model<'FullReview'>['status']

const RUN_LOOKS: Record<RunStatus, Look> = {
  pending: { icon: IconCircleDashed, color: 'gray' },
  running: { icon: IconClock, color: 'blue' },
  paused: { icon: IconPlayerPause, color: 'yellow' },
  waiting: { icon: IconClock, color: 'yellow' },
  completed: { icon: IconCheck, color: 'green' },
  failed: { icon: IconAlertTriangle, color: 'red' },
  aborted: { icon: IconPlayerStop, color: 'gray' },
  cancelled: { icon: IconPlayerStop, color: 'gray' },
}

/** How the document's review stands. */
export function ReviewStanding({ documentId }: { documentId: string }) {
  const { t } = useTranslation()
  const mayReview = useMay('review')
  const { data } = useQuery({ ...reviewQuery(documentId), enabled: mayReview })
  if (!data) return <>{t('documents.noReview')}</>
  const words = t('documents.reviewStates', { returnObjects: true }) as Record<string, string>
  return <State {...lookOf(data.status)}>{words[data.status] ?? data.status}</State>
}

function lookOf(status: ReviewStatus): Look {
  switch (status) {
    case 'approved':
      return { icon: IconCheck, color: 'green' }
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
          <State {...RUN_LOOKS[run.status]}>{t(`documents.runStates.${run.status}`)}</State>
          <Text size="xs" c="dimmed">
            <Time value={run.started_at} />
          </Text>
        </Stack>
      ))}
    </Stack>
  )
}
