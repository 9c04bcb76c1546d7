/** How the states of batches and their documents look: always an icon, a word and a colour. */
import { Progress } from '@mantine/core'
import {
  IconCircleCheck,
  IconCircleX,
  IconFolderOpen,
  IconHourglass,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
  IconUserQuestion,
  type Icon,
} from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

import { State } from '@/kit/State'

import type { Batch } from './queries'
import type { DocumentState } from './search'

type Look = { icon: Icon; color: string }

const BATCHES: Record<Batch['status'], Look> = {
  open: { icon: IconFolderOpen, color: 'gray' },
  running: { icon: IconPlayerPlay, color: 'blue' },
  paused: { icon: IconPlayerPause, color: 'yellow' },
  completed: { icon: IconCircleCheck, color: 'teal' },
  cancelled: { icon: IconPlayerStop, color: 'orange' },
}

export const DOCUMENTS: Record<DocumentState, Look> = {
  waiting: { icon: IconHourglass, color: 'gray' },
  running: { icon: IconPlayerPlay, color: 'blue' },
  asking: { icon: IconUserQuestion, color: 'yellow' },
  done: { icon: IconCircleCheck, color: 'teal' },
  failed: { icon: IconCircleX, color: 'red' },
  cancelled: { icon: IconPlayerStop, color: 'orange' },
}

export function BatchState({ batch }: { batch: Batch }) {
  const { t } = useTranslation()
  const { icon, color } = BATCHES[batch.status]
  return (
    <State icon={icon} color={color}>
      {t(`batches.status.${batch.status}`)}
    </State>
  )
}

export function StateOfDocument({ state }: { state: DocumentState }) {
  const { t } = useTranslation()
  const { icon, color } = DOCUMENTS[state]
  return (
    <State icon={icon} color={color}>
      {t(`batches.states.${state}`)}
    </State>
  )
}

/** The documents of a batch as a bar: what is done first, what waits is left empty. */
export function ProgressBar({ batch, size = 'sm' }: { batch: Batch; size?: 'xs' | 'sm' | 'lg' }) {
  const { total } = batch.counts
  return (
    <Progress.Root size={size} aria-hidden>
      {SHOWN.map((state) => (
        <Progress.Section
          key={state}
          value={(100 * batch.counts[state]) / Math.max(total, 1)}
          color={DOCUMENTS[state].color}
        />
      ))}
    </Progress.Root>
  )
}

const SHOWN = ['done', 'asking', 'failed', 'cancelled', 'running'] as const
