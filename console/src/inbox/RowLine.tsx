import { Badge, Checkbox, Text, Tooltip } from '@mantine/core'
import { IconCopy, IconLock } from '@tabler/icons-react'
import type { CSSProperties } from 'react'
import { useTranslation } from 'react-i18next'

import { useMe } from '@/api/me'
import { useSignal } from '@/app/signal'
import { clock } from '@/format/dates'
import { visible } from '@/format/text'
import { zoneChoice, zoneName } from '@/format/zone'
import { State } from '@/kit/State'
import { DateOnly, Money, Name } from '@/kit/Values'
import { reasonWords } from '@/texts/reasons'

import { Confidence } from './Confidence'
import { DocumentLink } from './DocumentLink'
import { Due } from './Due'
import type { Line } from './grouping'
import { rowId } from './focus'
import type { Row } from './queries'
import { RowActions } from './RowActions'
import classes from './Rows.module.css'
import type { InboxSearch } from './search'
import { LOOKS } from './status'

type Props = {
  line: Line
  index: number
  now: number
  place: CSSProperties
  search: InboxSearch
  active: number
  onActive: (index: number) => void
  selected: ReadonlySet<string>
  onSelect: (documentId: string) => void
  onSelectAll?: () => void
}

/** One document of the inbox. */
export function RowLine({ line, index, now, place, search, active, onActive, selected, onSelect, onSelectAll }: Props) {
  const { t } = useTranslation()
  const { row, alike, isBelow } = line
  const isSelected = selected.has(row.document_id)
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the keys are commands of the list
    <div
      id={rowId(row.document_id)}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={onSelectAll ? isSelected : undefined}
      className={classes.row}
      style={place}
      data-active={index === active || undefined}
      data-selected={isSelected || undefined}
      data-failed={row.status === 'failed' || undefined}
      onClick={() => onActive(index)}
    >
      <span role="gridcell" className={classes.check}>
        {onSelectAll && (
          <Checkbox
            size="xs"
            tabIndex={-1}
            aria-label={t('inbox.select', { name: visible(row.file_name) })}
            checked={isSelected}
            onChange={() => onSelect(row.document_id)}
          />
        )}
      </span>
      <span role="gridcell" data-column="file" className={isBelow ? classes.below : undefined}>
        <DocumentLink row={row} search={search}>
          <Name value={row.file_name} most={80} />
        </DocumentLink>
        <AlikeBadge row={row} alike={alike} />
        <span className={classes.held}>
          <Claimed row={row} />
        </span>
      </span>
      <span role="gridcell" data-column="vendor">
        {row.vendor_name && <Name value={row.vendor_name} most={80} />}
      </span>
      <span role="gridcell" data-column="number">
        {row.invoice_number && <Name value={row.invoice_number} most={40} />}
      </span>
      <span role="gridcell" data-column="date" className="numbers">
        {row.issued_on && <DateOnly value={row.issued_on} />}
      </span>
      <span role="gridcell" data-column="total">
        {row.total !== null && <Money value={row.total} currency={row.currency} />}
      </span>
      <span role="gridcell" data-column="due">
        <Due row={row} now={now} />
      </span>
      <span role="gridcell" data-column="reason">
        {search.status === 'all' && (
          <State icon={LOOKS[row.status].icon} color={LOOKS[row.status].color}>
            {t(`inbox.statuses.${row.status}`)}
          </State>
        )}
        <Reason row={row} />
        <RowActions row={row} />
      </span>
      <span role="gridcell" data-column="confidence">
        <Confidence row={row} />
      </span>
      <span role="gridcell" data-column="holder">
        <Holder row={row} />
      </span>
    </div>
  )
}

function Reason({ row }: { row: Row }) {
  const { t, i18n } = useTranslation()
  if (!row.reason) return null
  const { title, detail } = reasonWords({ code: row.reason_code, message: row.reason }, t, i18n.language)
  const reason = visible(title)
  return (
    <>
      <Tooltip label={visible(detail || title)} multiline maw={420} disabled={!detail && reason.length < 24}>
        <span className={classes.reason}>{reason}</span>
      </Tooltip>
      {row.more_reasons > 0 && (
        <Text span inherit c="dimmed">
          {t('inbox.moreReasons', { count: row.more_reasons })}
        </Text>
      )}
    </>
  )
}

/** That a document has the same bytes as another one, or how many look like it. */
function AlikeBadge({ row, alike }: { row: Row; alike: number }) {
  const { t } = useTranslation()
  if (!row.duplicate_of && alike === 0) return null
  const words = row.duplicate_of ? t('inbox.duplicate') : t('inbox.alike', { count: alike })
  const label = row.duplicate_of ? t('inbox.duplicateOf', { id: row.duplicate_of }) : words
  return (
    <Tooltip label={label}>
      <Badge className={classes.badge} color={row.duplicate_of ? 'yellow' : 'gray'} size="xs">
        <IconCopy size={10} aria-hidden /> <span className={classes.badgeText}>{words}</span>
      </Badge>
    </Tooltip>
  )
}

function Holder({ row }: { row: Row }) {
  if (row.claimed_by) return <Claimed row={row} />
  const name = row.decided_by ?? row.assigned_to ?? row.first_approved_by
  return name ? <Name value={name} most={20} /> : null
}

/** Who works on the document, and until when. */
function Claimed({ row: { claimed_by: by, claimed_until: until } }: { row: Row }) {
  const { t } = useTranslation()
  const me = useMe()
  const zone = zoneName(useSignal(zoneChoice))
  if (by === null) return null
  return (
    <Tooltip label={t('inbox.hasUntil', { name: by, time: until ? clock(until, zone) : '' })}>
      <span className={classes.holder}>
        <IconLock size={13} aria-hidden />
        {by === me?.name ? t('inbox.you') : <Name value={by} most={20} />}
      </span>
    </Tooltip>
  )
}
