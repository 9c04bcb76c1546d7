import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { percent, rounded } from '@/format/numbers'

import type { Field } from './model'
import classes from './review.module.css'
import { factText } from './words'

/** Why a value is as certain as it is: the parts of the sum, and what they add up to. */
export function Why({ field }: { field: Field }) {
  const { t } = useTranslation()
  const most = Math.max(...field.explanation.map((part) => Math.abs(part.weight)), 1)
  return (
    <div className={classes.why} data-testid="why">
      {field.explanation.map((part) => (
        <div key={part.what} className={classes.part}>
          <Text size="xs" truncate>
            {factText(part.what, t)}
          </Text>
          <div className={classes.bar} data-against={part.weight < 0 || undefined}>
            <span style={{ width: `${(50 * Math.abs(part.weight)) / most}%` }} />
          </div>
          <Text size="xs" c="dimmed" className="numbers" ta="right">
            {part.weight > 0 ? '+' : '−'}
            {rounded(Math.abs(part.weight))}
          </Text>
        </div>
      ))}
      {field.confidence !== null && (
        <Text size="xs" c="dimmed" mt={4}>
          {t('review.together', { confidence: percent(field.confidence) })}
        </Text>
      )}
    </div>
  )
}
