/** How a schedule or a trigger stands: whether it is active, how often it passes, and how its latest pass went. */
import { Stack } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconPlayerPause, IconPlayerPlay, IconRefresh } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { duration } from '@/format/dates'
import { count } from '@/format/numbers'
import { State } from '@/kit/State'
import { Time } from '@/kit/Values'

import classes from './Operations.module.css'

export function Activity({ paused }: { paused: boolean }) {
  const { t } = useTranslation()
  return (
    <State icon={paused ? IconPlayerPause : IconPlayerPlay} color={paused ? 'yellow' : 'teal'}>
      {t(paused ? 'operations.schedules.paused' : 'operations.schedules.active')}
    </State>
  )
}

/** `1 min`, not `1 min 0 s`. */
export function interval(seconds: number): string {
  return seconds % 60 === 0 ? `${count(seconds / 60)} min` : duration(seconds)
}

const LOOKS = {
  running: { icon: IconRefresh, color: 'blue' },
  completed: { icon: IconCheck, color: 'teal' },
  failed: { icon: IconAlertTriangle, color: 'red' },
} as const

export function LastPass({ last }: { last: Model<'LastPass'> | null }) {
  const { t } = useTranslation()
  if (!last) return <>–</>
  return (
    <Stack gap={2} align="flex-start" className={classes.line}>
      <Time value={last.started_at} />
      {last.state && <State {...LOOKS[last.state]}>{t(`operations.schedules.ended.${last.state}`)}</State>}
    </Stack>
  )
}
