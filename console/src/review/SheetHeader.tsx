import { ActionIcon, Badge, Group, Text, Tooltip } from '@mantine/core'
import { IconArrowLeft, IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

import { money } from '@/format/numbers'
import { Name, Time } from '@/kit/Values'

import { fieldOf, type View } from './model'
import { type Neighbour, type Neighbours, nextOf, previousOf } from './queue'
import classes from './review.module.css'
import { nameOf } from './words'

type Props = {
  view: View
  neighbours: Neighbours | undefined
  onOpen: (neighbour: Neighbour) => void
  onLeave: () => void
}

/** What the document is, and where it is in its list. */
export function SheetHeader({ view, neighbours, onOpen, onLeave }: Props) {
  const { t } = useTranslation()
  const { review, fields, document } = view
  const kind = fieldOf(fields, 'document_type')?.value ?? 'invoice'
  const vendor = fieldOf(fields, 'vendor_name')?.value
  const total = fieldOf(fields, 'total')?.value
  const currency = fieldOf(fields, 'currency')?.value
  const next = neighbours && nextOf(neighbours)
  const previous = neighbours && previousOf(neighbours)
  const isOpen = review.decided_by === null
  const isOverdue = isOpen && review.band > 1
  return (
    <header className={classes.header}>
      <Step label={t('review.toList')} icon={IconArrowLeft} onClick={onLeave} />
      <div className={classes.headline}>
        <div className={classes.headlineRow}>
          <h1>{vendor ? <Name value={vendor} most={48} /> : t('review.noVendor')}</h1>
          {total !== null && total !== undefined && (
            <Text fw={600} className="numbers" size="lg" lh={1.3} flex="none">
              {money(total, currency)}
            </Text>
          )}
        </div>
        <div className={classes.details}>
          <Text size="xs" c="dimmed" truncate component="div" miw={0}>
            <Name value={document.file_name} most={40} /> · {nameOf('fields', kind, t)}
          </Text>
          {review.due_at && (
            <Text size="xs" c="dimmed" component="div" className={classes.deadline}>
              {isOverdue ? (
                <Badge color="red" size="sm">
                  {t('review.overdue')}
                </Badge>
              ) : (
                t('review.due')
              )}{' '}
              <Time value={review.due_at} />
            </Text>
          )}
          {isOpen && !isOverdue && review.band > 0 && (
            <Badge color="orange" size="sm" flex="none">
              {t('review.urgent')}
            </Badge>
          )}
        </div>
      </div>
      {neighbours && neighbours.total > 0 && (
        <Group gap={0} wrap="nowrap" className={classes.neighbours}>
          <Step label={t('review.previous')} icon={IconChevronLeft} onClick={previous && (() => onOpen(previous))} />
          <Text size="xs" c="dimmed" className={`numbers ${classes.place}`}>
            {t('review.placeOf', { place: neighbours.place, total: neighbours.total })}
          </Text>
          <Step label={t('review.next')} icon={IconChevronRight} onClick={next && (() => onOpen(next))} />
        </Group>
      )}
    </header>
  )
}

type StepProps = { label: string; icon: typeof IconArrowLeft; onClick: (() => void) | undefined }

function Step({ label, icon: Symbol, onClick }: StepProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} disabled={!onClick} bg="transparent" onClick={onClick}>
        <Symbol size={17} stroke={1.8} />
      </ActionIcon>
    </Tooltip>
  )
}
