import { Text, Timeline } from '@mantine/core'
import {
  IconArrowBackUp,
  IconCheck,
  IconChecks,
  IconClockPause,
  IconEdit,
  IconFileExport,
  IconInbox,
  IconLockOpen,
  IconRefresh,
  IconScan,
  IconUserShare,
  IconX,
  type Icon,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'

import { useSignal } from '@/app/signal'
import { time } from '@/format/dates'
import { shortened, visible } from '@/format/text'
import { zoneChoice, zoneName } from '@/format/zone'
import { Loading } from '@/kit/Loading'
import { Trouble } from '@/kit/Trouble'
import { Name, Time } from '@/kit/Values'

import classes from './DocumentPage.module.css'
import { type HistoryEvent, historyQuery } from './queries'
import { shownValue } from './values'

type Look = { icon: Icon; color: string }

const LOOKS: Record<HistoryEvent['what'], Look> = {
  received: { icon: IconInbox, color: 'gray' },
  read: { icon: IconScan, color: 'gray' },
  read_before: { icon: IconScan, color: 'gray' },
  corrected: { icon: IconEdit, color: 'blue' },
  unlocked: { icon: IconLockOpen, color: 'blue' },
  undone: { icon: IconArrowBackUp, color: 'blue' },
  assigned: { icon: IconUserShare, color: 'gray' },
  postponed: { icon: IconClockPause, color: 'gray' },
  approved_first: { icon: IconCheck, color: 'teal' },
  approved: { icon: IconChecks, color: 'teal' },
  rejected: { icon: IconX, color: 'red' },
  reopened: { icon: IconRefresh, color: 'yellow' },
  exported: { icon: IconFileExport, color: 'teal' },
}

/** What happened to the document, in words, oldest first. */
export function History({ documentId, fileName }: { documentId: string; fileName: string }) {
  const { data, error, refetch } = useQuery(historyQuery(documentId))
  if (error) return <Trouble error={error} retry={() => void refetch()} />
  if (!data) return <Loading height={160} />
  return (
    <Timeline bulletSize={22} lineWidth={1} active={data.events.length}>
      {data.events.map((event, place) => (
        <Timeline.Item
          key={place}
          color={LOOKS[event.what].color}
          bullet={<Symbol event={event} />}
          className={classes.event}
        >
          <Event event={event} fileName={fileName} />
        </Timeline.Item>
      ))}
    </Timeline>
  )
}

function Symbol({ event }: { event: HistoryEvent }) {
  const { icon: Icon } = LOOKS[event.what]
  return <Icon size={13} stroke={2} aria-hidden />
}

function Event({ event, fileName }: { event: HistoryEvent; fileName: string }) {
  return (
    <>
      <Text size="sm">
        <Words event={event} fileName={fileName} />
      </Text>
      <Change event={event} />
      {event.why && (
        <Text size="sm" className={classes.why}>
          <Name value={event.why} most={500} />
        </Text>
      )}
      <Text size="xs" c="dimmed">
        <Time value={event.at} />
      </Text>
    </>
  )
}

/** The event as a sentence. */
function Words({ event, fileName }: { event: HistoryEvent; fileName: string }) {
  const { t } = useTranslation()
  const zone = zoneName(useSignal(zoneChoice))
  const fields = t('exports.columns', { returnObjects: true }) as Record<string, string>
  const field = event.field ? (fields[event.field] ?? event.field) : ''
  const by = visible(personOf(event.by, t('documents.someone'), t('documents.automatic')))
  const value = visible(event.value ?? '')
  switch (event.what) {
    case 'received':
      return event.by
        ? t('documents.events.received', { by })
        : t('documents.events.arrived', { name: shortened(visible(fileName), 80) })
    case 'read':
    case 'read_before': {
      const reader = readerName(value, t('documents.readers', { returnObjects: true }))
      return t(`documents.events.${event.what}`, { reader })
    }
    case 'postponed':
      return t('documents.events.postponed', { by, until: time(value, zone) })
    case 'assigned':
      return t('documents.events.assigned', { by, to: value })
    case 'exported':
      return t('documents.events.exported', { by, format: value === 'webhook' ? 'Webhook' : value.toUpperCase() })
    default:
      return t(`documents.events.${event.what}`, { by, field })
  }
}

/** The value before and after a correction. */
function Change({ event }: { event: HistoryEvent }) {
  const { t } = useTranslation()
  if (event.what !== 'corrected' && event.what !== 'unlocked') return null
  const shown = (value: string) => <Name value={shownValue(event.field ?? '', value, t)} most={120} />
  return (
    <Text size="sm">
      {event.was === null ? (
        <span className={classes.was}>{t('documents.nothing')}</span>
      ) : (
        <s className={classes.was}>{shown(event.was)}</s>
      )}
      {event.what === 'corrected' && (
        <>
          {' → '}
          {event.value === null ? t('documents.nothing') : shown(event.value)}
        </>
      )}
    </Text>
  )
}

const STRAIGHT_THROUGH = 'straight-through'

function personOf(name: string | null, someone: string, automatic: string): string {
  return name === STRAIGHT_THROUGH ? automatic : (name ?? someone)
}

/** The reader in words; a model by its own name. */
export function readerName(reader: string, names: Record<string, string>): string {
  return names[reader] ?? reader
}
