/** All problems of the text, errors first. A click, or F8, leads to the place. */
import { Text, UnstyledButton } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconCircleX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

import { KeysOf } from '@/kit/Keys'

import classes from './editor.module.css'
import type { Problem } from './problems'

type Props = {
  problems: readonly Problem[]
  /** Whether they are those of the text as it is now. */
  isCurrent: boolean
  isKnown: boolean
  onJump: (problem: Problem) => void
}

export function Problems({ problems, isCurrent, isKnown, onJump }: Props) {
  const { t } = useTranslation()
  const errors = problems.filter((problem) => problem.severity === 'error')
  const warnings = problems.filter((problem) => problem.severity === 'warning')
  return (
    <section className={classes.problems} aria-label={t('editor.problems.label')}>
      <div className={classes.problemsHead} role="status">
        {isKnown && errors.length === 0 ? (
          <span className={classes.fine}>
            <IconCircleCheck size={15} aria-hidden /> {t('editor.problems.none')}
          </span>
        ) : (
          <span className={classes.wrong}>
            {errors.length > 0 && <IconCircleX size={15} aria-hidden />}{' '}
            {isKnown ? t('editor.problems.errors', { count: errors.length }) : t('editor.problems.unknown')}
          </span>
        )}
        {warnings.length > 0 && (
          <span className={classes.doubtful}>
            <IconAlertTriangle size={15} aria-hidden /> {t('editor.problems.warnings', { count: warnings.length })}
          </span>
        )}
        {!isCurrent && isKnown && (
          <Text span size="xs" c="dimmed">
            {t('editor.problems.checking')}
          </Text>
        )}
        <span className={classes.hints}>
          {problems.length > 0 && (
            <>
              <KeysOf command="editor.next-problem" /> {t('editor.problems.next')}
            </>
          )}
        </span>
      </div>
      {problems.length > 0 && (
        <ul className={classes.list}>
          {[...errors, ...warnings].map((problem, at) => (
            // oxlint-disable-next-line react/no-array-index-key -- two problems may be equal in everything else
            <li key={at}>
              <UnstyledButton className={classes.problem} onClick={() => onJump(problem)}>
                <Sign problem={problem} />
                <span className={classes.place}>
                  {problem.line === null
                    ? t('editor.problems.whole')
                    : t('editor.problems.line', { line: problem.line })}
                </span>
                <span className={classes.message}>
                  {problem.message}
                  {problem.suggestion && (
                    <span className={classes.meant}> {t('editor.problems.meant', { word: problem.suggestion })}</span>
                  )}
                </span>
              </UnstyledButton>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Sign({ problem }: { problem: Problem }) {
  const { t } = useTranslation()
  return problem.severity === 'error' ? (
    <IconCircleX size={14} className={classes.wrong} aria-label={t('editor.problems.error')} role="img" />
  ) : (
    <IconAlertTriangle size={14} className={classes.doubtful} aria-label={t('editor.problems.warning')} role="img" />
  )
}
