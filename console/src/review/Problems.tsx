import { Text, UnstyledButton } from '@mantine/core'
import { IconAlertTriangle, IconArrowRight, IconExclamationCircle } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import { shortened, visible } from '@/format/text'
import { reasonWords } from '@/texts/reasons'

import { changeOf, type InvoiceProblem, LINE_ITEMS } from './model'
import classes from './review.module.css'
import { nameOf } from './words'

type Props = { problems: InvoiceProblem[]; changed: string[]; onJump: (field: string) => void }

/** The rules that the document breaks, each with the way to its field. */
export function Problems({ problems, changed, onJump }: Props) {
  const { t, i18n } = useTranslation()
  if (problems.length === 0) return null
  const sorted = problems.toSorted(
    (one, other) => Number(other.severity === 'error') - Number(one.severity === 'error'),
  )
  return (
    <ul className={classes.problems} aria-label={t('review.problems')}>
      {sorted.map((problem, index) => {
        const { title, detail } = reasonWords(problem, t, i18n.language)
        const isError = problem.severity === 'error'
        const Symbol = isError ? IconExclamationCircle : IconAlertTriangle
        const field = problem.field ?? (problem.code === 'lines_disagree' ? LINE_ITEMS : null)
        return (
          // oxlint-disable-next-line react/no-array-index-key -- two problems may be equal
          <li key={`${problem.code} ${field} ${index}`}>
            <UnstyledButton
              component={field ? 'button' : 'div'}
              className={classes.problem}
              data-severity={problem.severity}
              data-changed={changed.includes(changeOf(problem)) || undefined}
              onClick={field ? () => onJump(field) : undefined}
            >
              <Symbol size={16} stroke={1.9} aria-hidden className={classes.problemIcon} />
              <span className={classes.problemText}>
                <Text size="sm" component="span">
                  <span className={classes.severity}>{t(isError ? 'review.error' : 'review.warning')}</span>
                  <WithDocuments text={shortened(visible(title), 400)} links={!field} />
                </Text>
                {detail && (
                  <Text size="xs" c="dimmed" component="span" display="block">
                    <WithDocuments text={shortened(visible(detail), 400)} links={!field} />
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

const DOCUMENT = /(doc_[0-9a-z]{26})/

/** A sentence in which documents are links. */
function WithDocuments({ text, links }: { text: string; links: boolean }) {
  if (!links) return text
  return text.split(DOCUMENT).map((part, index) =>
    DOCUMENT.test(part) ? (
      // oxlint-disable-next-line react/no-array-index-key -- parts of one sentence
      <Link key={index} to="/documents/$documentId" params={{ documentId: part }} className={classes.way}>
        …{part.slice(-6)}
      </Link>
    ) : (
      part
    ),
  )
}
