/** How the states of runs and steps look: always an icon, a word and a colour, so that no one depends on the colour. */
import { Badge } from '@mantine/core'
import {
  IconAlertHexagon,
  IconBan,
  IconCircleCheck,
  IconCircleDashed,
  IconCircleX,
  IconClockPause,
  IconHourglass,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerSkipForward,
  IconPlayerStop,
  type TablerIcon,
} from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'

export type RunStatus = Model<'RunStatus'>
export type StepStatus = Model<'StepStatus'>
export type Status = RunStatus | StepStatus

type Look = { icon: TablerIcon; colour: string }

const LOOKS: Record<Status, Look> = {
  pending: { icon: IconCircleDashed, colour: 'gray' },
  queued: { icon: IconHourglass, colour: 'gray' },
  running: { icon: IconPlayerPlay, colour: 'blue' },
  waiting: { icon: IconClockPause, colour: 'yellow' },
  parked: { icon: IconAlertHexagon, colour: 'grape' },
  paused: { icon: IconPlayerPause, colour: 'yellow' },
  completed: { icon: IconCircleCheck, colour: 'teal' },
  failed: { icon: IconCircleX, colour: 'red' },
  skipped: { icon: IconPlayerSkipForward, colour: 'gray' },
  cancelled: { icon: IconPlayerStop, colour: 'orange' },
  aborted: { icon: IconBan, colour: 'orange' },
}

/** Statuses in which a run does not change any more by itself. */
const OVER: ReadonlySet<Status> = new Set(['completed', 'failed', 'aborted', 'cancelled'])

export function isOver(status: Status): boolean {
  return OVER.has(status)
}

/** The colour of bars, edges and other plain areas. */
export function colourOf(status: Status): string {
  const { colour } = LOOKS[status]
  return colour === 'gray' ? 'var(--mantine-color-gray-5)' : `var(--mantine-color-${colour}-filled)`
}

/** The icon of a status. It needs its word next to it, or an accessible name. */
export function StatusIcon({ status, size = 14 }: { status: Status; size?: number }) {
  const { icon: Icon, colour } = LOOKS[status]
  return (
    <Icon
      size={size}
      stroke={2}
      color={colour === 'yellow' ? 'var(--mantine-color-yellow-8)' : `var(--mantine-color-${colour}-text)`}
      aria-hidden
    />
  )
}

export function StatusBadge({ status }: { status: Status }) {
  const { t } = useTranslation()
  return (
    <Badge
      color={LOOKS[status].colour}
      c="var(--mantine-color-text)"
      leftSection={<StatusIcon status={status} size={13} />}
      data-status={status}
    >
      {t(`runs.status.${status}`)}
    </Badge>
  )
}
