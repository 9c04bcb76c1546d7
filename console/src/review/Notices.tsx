import { Alert, Button, Group, Text } from '@mantine/core'
import { IconAlertCircle, IconEye, IconLockExclamation } from '@tabler/icons-react'
import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'

import type { Problem } from '@/api/problem'
import { clock } from '@/format/dates'
import { visible } from '@/format/text'
import { problemText } from '@/kit/problem_text'
import en from '@/texts/en.json'

import { gaveFirst, type View } from './model'
import type { Claim } from './use_claim'
import { nameOf } from './words'

type Props = {
  view: View
  claim: Claim
  /** Why the last decision was refused. */
  problem: Problem | undefined
  changed: string[]
  onAgain: () => void
  onNext: () => void
}

/** Why the document cannot be worked on, or why a decision was refused, with the way on. */
export function Notices({ view, claim, problem, changed, onAgain, onNext }: Props) {
  const { t } = useTranslation()
  const { review } = view
  if (problem) return <Refused problem={problem} view={view} changed={changed} onAgain={onAgain} onNext={onNext} />
  if (review.decided_by !== null) {
    const name = visible(review.decided_by)
    return (
      <Notice icon="eye">
        {t(review.status === 'rejected' ? 'review.rejectedBy' : 'review.approvedBy', { name })}
      </Notice>
    )
  }
  if (claim.state === 'claiming' || claim.state === 'mine') return null
  const action = <Way label={t('review.tryClaim')} onClick={onAgain} />
  if (review.claimed_by && review.claimed_until && isOther(view)) {
    return (
      <Notice icon="eye" action={action}>
        {t('review.hasThis', { name: visible(review.claimed_by), time: clock(review.claimed_until) })}
      </Notice>
    )
  }
  if (gaveFirst(view)) return <Notice icon="eye">{t('review.waitsForSecond')}</Notice>
  const refusal = view.actions.find((each) => each.name === 'claim')
  const reason = refusal?.problem
    ? refusalText(refusal.problem, refusal.reason, t)
    : claim.problem && problemText(claim.problem, t).detail
  return (
    <Notice icon="eye" action={review.status === 'open' ? action : undefined}>
      {reason ? `${t('review.readOnly')} ${visible(reason)}` : t('review.readOnly')}
    </Notice>
  )
}

function isOther(view: View): boolean {
  return view.actions.some((each) => each.name === 'correct' && each.problem === 'claimed-by-other')
}

function refusalText(problem: string, reason: string | null, t: TFunction): string | null {
  return problem in en.review.refusals ? t(`review.refusals.${problem}` as 'review.readOnly') : reason
}

type NoticeProps = { icon: 'eye' | 'lock'; action?: React.ReactNode; children: React.ReactNode }

function Notice({ icon, action, children }: NoticeProps) {
  const Symbol = icon === 'eye' ? IconEye : IconLockExclamation
  return (
    <Alert color="blue" variant="light" radius={0} py={8} icon={<Symbol size={17} />} role="status">
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm">{children}</Text>
        {action}
      </Group>
    </Alert>
  )
}

type RefusedProps = Omit<Props, 'claim' | 'problem'> & { problem: Problem }

function Refused({ problem, changed, onAgain, onNext }: RefusedProps) {
  const { t } = useTranslation()
  const { title, detail } = problemText(problem, t)
  const isOver = problem.kind === 'already-decided' || problem.kind === 'wrong-state'
  const fields = changed.filter((name) => !name.startsWith('problem:')).map((name) => nameOf('fields', name, t))
  const names = [...fields, ...(fields.length < changed.length ? [t('review.problems')] : [])].join(', ')
  return (
    <Alert
      color="orange"
      variant="light"
      radius={0}
      py={8}
      icon={<IconAlertCircle size={17} />}
      title={title}
      role="alert"
    >
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm">
          {problem.kind === 'decision-outdated' && names ? t('review.changed', { fields: names }) : visible(detail)}
        </Text>
        {isOver ? (
          <Way label={t('review.goOn')} onClick={onNext} />
        ) : (
          problem.kind === 'claim-lost' && <Way label={t('review.tryClaim')} onClick={onAgain} />
        )}
      </Group>
    </Alert>
  )
}

function Way({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <Button variant="default" onClick={onClick}>
      {label}
    </Button>
  )
}
