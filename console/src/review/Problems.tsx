import { Text, UnstyledButton } from '@mantine/core'
import { IconAlertTriangle, IconArrowRight, IconExclamationCircle } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

import { shortened, visible } from '@/format/text'

import type { InvoiceProblem } from './model'
import classes from './review.module.css'
import { nameOf, problemWords } from './words'

type Props = { problems: InvoiceProblem[]; onJump: (field: string) => void }

/** The rules that the document breaks, each with the way to its field. */
export function Problems({ problems, onJump }: Props) {
  const { t, i18n } = useTranslation()
  if (problems.length === 0) return null
  const sorted = problems.toSorted(
    (one, other) => Number(other.severity === 'error') - Number(one.severity === 'error'),
  )
  return (
    <ul className={classes.problems} aria-label={t('review.problems')}>
      {sorted.map((problem, index) => {
        const { title, detail } = problemWords(problem, t, i18n.language)
        const isError = problem.severity === 'error'
        const Symbol = isError ? IconExclamationCircle : IconAlertTriangle
        const { field } = problem
        return (
          // oxlint-disable-next-line react/no-array-index-key -- two problems may be equal
          <li key={`${problem.code} ${field} ${index}`}>
            <UnstyledButton
              className={classes.problem}
              data-severity={problem.severity}
              disabled={!field}
              onClick={() => field && onJump(field)}
            >
              <Symbol size={16} stroke={1.9} aria-hidden className={classes.problemIcon} />
              <span className={classes.problemText}>
                <Text size="sm" component="span">
                  <span className={classes.severity}>{t(isError ? 'review.error' : 'review.warning')}</span>
                  {shortened(visible(title), 400)}
                </Text>
                {detail && (
                  <Text size="xs" c="dimmed" component="span" display="block">
                    {shortened(visible(detail), 400)}
                  </Text>
                )}
              </span>
              {field && (
                <span className={classes.jump}>
                  {nameOf('fields', field, t)}
                  <IconArrowRight size={13} aria-hidden />
                </span>
              )}
            </UnstyledButton>
          </li>
        )
      })}
    </ul>
  )
}
