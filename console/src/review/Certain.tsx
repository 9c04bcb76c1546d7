import { Group, Text, Tooltip } from '@mantine/core'
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

const LOOKS: Record<Certainty, { icon: Icon; color: string }> = {
  confirmed: { icon: IconUserCheck, color: 'var(--way)' },
  high: { icon: IconCircleCheck, color: 'var(--sure)' },
  medium: { icon: IconHelpCircle, color: 'var(--mantine-color-dimmed)' },
  low: { icon: IconAlertTriangle, color: 'var(--doubt)' },
  unknown: { icon: IconCircleDashed, color: 'var(--mantine-color-dimmed)' },
}

/** How certain a value is: as icon, word and number. */
export function Certain({ field }: { field: Field }) {
  const { t } = useTranslation()
  const certainty = certaintyOf(field)
  const { icon: Symbol, color } = LOOKS[certainty]
  const number = certainty === 'confirmed' || field.confidence === null ? '' : percent(field.confidence)
  return (
    <Tooltip label={t(`review.certaintyHint.${certainty}`)} multiline maw={280}>
      <Group gap={4} wrap="nowrap" c={color} miw={0}>
        <Symbol size={15} stroke={1.9} aria-hidden style={{ flex: 'none' }} />
        <Text size="xs" truncate className="numbers">
          {t(`review.certainty.${certainty}`)} {number}
        </Text>
      </Group>
    </Tooltip>
  )
}
