import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleDashed,
  IconHelpCircle,
  type Icon,
  IconUserCheck,
} from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

import { percent } from '@/format/numbers'

import { type Certainty, certaintyOf, type Field } from './model'
import classes from './review.module.css'

const LOOKS: Record<Certainty, { icon: Icon; color: string }> = {
  confirmed: { icon: IconUserCheck, color: 'var(--way)' },
  high: { icon: IconCircleCheck, color: 'var(--sure)' },
  medium: { icon: IconHelpCircle, color: 'var(--mantine-color-dimmed)' },
  low: { icon: IconAlertTriangle, color: 'var(--doubt)' },
  unknown: { icon: IconCircleDashed, color: 'var(--mantine-color-dimmed)' },
}

/** How certain a value is: as icon, word and number. In plain elements: each of twenty fields has one (bench.console). */
export function Certain({ field }: { field: Field }) {
  const { t } = useTranslation()
  const certainty = certaintyOf(field)
  const { icon: Symbol, color } = LOOKS[certainty]
  const number = certainty === 'confirmed' || field.confidence === null ? '' : percent(field.confidence)
  return (
    <div className={classes.certain} style={{ color }} title={t(`review.certaintyHint.${certainty}`)}>
      <Symbol size={15} stroke={1.9} aria-hidden style={{ flex: 'none' }} />
      <span>{t(`review.certainty.${certainty}`)}</span>
      {number && <span className={`numbers ${classes.number}`}> {number}</span>}
    </div>
  )
}
