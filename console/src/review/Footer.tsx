import { Button, Group, Select, Text, Textarea } from '@mantine/core'
import { IconCheck, IconUsers } from '@tabler/icons-react'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { KeysOf } from '@/kit/Keys'

import { visible } from '@/format/text'
import { reasonWords } from '@/texts/reasons'

import { draftsOf, keepDraft, REASONS } from './kept'
import type { Fields } from './model'
import classes from './review.module.css'

/** What the footer asks about: nothing, or the reason for a decision. */
export type Panel = 'none' | 'approve' | 'reject' | 'postpone'

export type Allowed = { approve: boolean; reject: boolean; postpone: boolean }

type Props = {
  reviewId: string
  panel: Panel
  allowed: Allowed
  busy: boolean
  /** Why two people must approve; empty if one is enough. */
  needsSecond: Fields['needs_second']
  firstApprovedBy: string | null
  onPanel: (panel: Panel) => void
  onApprove: (why: string) => void
  onReject: (why: string) => void
  onPostpone: (until: string, why: string) => void
}

/** What can be done with the document, and what a decision still needs. */
export function Footer(props: Props) {
  const { panel, allowed, busy, needsSecond, firstApprovedBy, onPanel } = props
  const { t, i18n } = useTranslation()
  const reasons = needsSecond.map((reason) => reasonWords(reason, t, i18n.language).title)
  return (
    <footer className={classes.footer}>
      {needsSecond.length > 0 && (
        <Group gap={8} wrap="nowrap" align="flex-start" className={classes.second} role="note">
          <IconUsers size={16} stroke={1.8} aria-hidden style={{ flex: 'none', marginTop: 1 }} />
          <Text size="xs">
            <b>
              {firstApprovedBy ? t('review.secondOf', { name: visible(firstApprovedBy) }) : t('review.needsSecond')}
            </b>{' '}
            {reasons.map(visible).join('; ')}
          </Text>
        </Group>
      )}
      {panel === 'none' ? (
        <Group justify="space-between" gap="xs">
          <Group gap="xs" wrap="nowrap">
            <Button variant="default" disabled={!allowed.postpone || busy} onClick={() => onPanel('postpone')}>
              {t('review.postpone')}
            </Button>
            <Button variant="default" disabled={!allowed.reject || busy} onClick={() => onPanel('reject')}>
              {t('review.reject')}
            </Button>
          </Group>
          <Button
            size="sm"
            leftSection={<IconCheck size={16} stroke={2.2} />}
            rightSection={
              <span className={classes.caps}>
                <KeysOf command="review.approve" />
              </span>
            }
            disabled={!allowed.approve}
            loading={busy}
            data-approve
            flex="none"
            ml="auto"
            onClick={() => props.onApprove('')}
          >
            {t('review.approve')}
          </Button>
        </Group>
      ) : (
        <Ask key={panel} {...props} panel={panel} />
      )}
    </footer>
  )
}

/** Asks for the reason of a decision in place; Ctrl+Enter sends it, Escape goes back. */
function Ask({
  reviewId,
  panel,
  busy,
  onPanel,
  onApprove,
  onReject,
  onPostpone,
}: Props & { panel: Exclude<Panel, 'none'> }) {
  const { t } = useTranslation()
  const [why, setWhy] = useState(() => draftsOf(REASONS, reviewId).find(({ name }) => name === panel)?.text ?? '')
  const type = (text: string) => {
    setWhy(text)
    keepDraft(REASONS, reviewId, panel, text)
  }
  const [until, setUntil] = useState<string>('tomorrow')
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => field.current?.focus(), [])
  const needsReason = panel !== 'postpone'
  const isComplete = !needsReason || why.trim() !== ''
  const send = () => {
    if (!isComplete || busy) return
    if (panel === 'approve') onApprove(why)
    else if (panel === 'reject') onReject(why)
    else onPostpone(moments()[until] ?? '', why)
  }
  const onKey = (event: KeyboardEvent) => {
    const isSent = event.key === 'Enter' && (event.ctrlKey || event.metaKey)
    if (!isSent && event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    if (event.repeat) return
    if (isSent) send()
    else onPanel('none')
  }
  return (
    <div className={classes.ask} role="group" aria-label={t(`review.ask.${panel}.title`)}>
      <Text size="sm" fw={600}>
        {t(`review.ask.${panel}.title`)}
      </Text>
      {panel === 'postpone' && (
        <Select
          size="xs"
          aria-label={t('review.until')}
          value={until}
          onKeyDown={onKey}
          onChange={(value) => setUntil(value ?? 'tomorrow')}
          allowDeselect={false}
          data={Object.keys(moments()).map((value) => ({
            value,
            label: t(`review.moments.${value}` as 'review.until'),
          }))}
        />
      )}
      <Textarea
        ref={field}
        size="xs"
        autosize
        minRows={1}
        maxRows={4}
        maxLength={1000}
        aria-label={t('review.reason')}
        placeholder={t(`review.ask.${panel}.hint`)}
        required={needsReason}
        value={why}
        onKeyDown={onKey}
        onChange={(event) => type(event.currentTarget.value)}
      />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={() => onPanel('none')}>
          {t('app.cancel')}
        </Button>
        <Button
          color={panel === 'reject' ? 'red' : undefined}
          rightSection={
            <span className={classes.caps}>
              <KeysOf command="review.approve" />
            </span>
          }
          disabled={!isComplete}
          loading={busy}
          onClick={send}
        >
          {t(`review.ask.${panel}.send`)}
        </Button>
      </Group>
    </div>
  )
}

const MORNING = 9

/** The times to which a document is usually postponed: mornings in the person's own zone. */
function moments(): Record<string, string> {
  return { hour: later(0, 1), tomorrow: later(1), week: later(7), month: later(30) }
}

function later(days: number, hours?: number): string {
  const moment = new Date()
  if (hours === undefined) moment.setHours(MORNING, 0, 0, 0)
  else moment.setHours(moment.getHours() + hours)
  moment.setDate(moment.getDate() + days)
  return moment.toISOString()
}
