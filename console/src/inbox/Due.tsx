import { Tooltip } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

import { useSignal } from '@/app/signal'
import { exactTime, relative } from '@/format/dates'
import { zoneChoice, zoneName } from '@/format/zone'

import type { Row } from './queries'
import classes from './Rows.module.css'

const OPEN = new Set(['attention', 'second', 'postponed'])

/** Until when a document must be decided, or how long it is postponed. */
export function Due({ row, now }: { row: Row; now: number }) {
  const { t, i18n } = useTranslation()
  const zone = zoneName(useSignal(zoneChoice))
  const until = row.status === 'postponed' ? row.postponed_until : row.due_at
  if (!until || !OPEN.has(row.status)) return null
  const isLate = row.status !== 'postponed' && Date.parse(until) < now
  return (
    <Tooltip label={exactTime(until, zone)}>
      <time dateTime={until} className={isLate ? classes.late : undefined}>
        {isLate && <IconAlertTriangle size={13} aria-label={t('inbox.overdue')} />}
        {relative(until, now, i18n.language)}
      </time>
    </Tooltip>
  )
}
