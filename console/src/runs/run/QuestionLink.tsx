/** Leads to the page where people answer what a step asks. */
import { Anchor, Button } from '@mantine/core'
import { IconMessageQuestion } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { useMay } from '@/api/me'

import { questionsQuery } from '../queries'

type Question = Model<'Review'>

/** The open questions of a run and of runs in it, for those who may answer; undefined until they are known. */
export function useQuestions(runId: string, isAsked: boolean): Question[] | undefined {
  const mayReview = useMay('review')
  const found = useQuery({ ...questionsQuery(runId), enabled: isAsked && mayReview })
  if (!mayReview) return []
  return found.data?.reviews ?? (found.error ? [] : undefined)
}

/** The question of a step. One about a document is that document's review. */
export function questionOf(questions: Question[], runId: string, stepId: string): Question | undefined {
  const own = questions.find((each) => each.run_id === runId && each.step_id === stepId)
  return own ?? questions.find((each) => each.run_id === runId && each.step_id === null)
}

export function QuestionLink({ question, isCompact = false }: { question: Question; isCompact?: boolean }) {
  const { t } = useTranslation()
  const to = question.kind === 'document' ? '/review/$reviewId' : '/decide/$reviewId'
  const toPage = (props: object) => <Link {...props} to={to} params={{ reviewId: question.review_id }} />
  if (isCompact)
    return (
      <Anchor inherit underline="always" renderRoot={toPage}>
        {t('runs.answer.decide')}
      </Anchor>
    )
  return (
    <Button renderRoot={toPage} leftSection={<IconMessageQuestion size={14} aria-hidden />}>
      {t('runs.answer.decide')}
    </Button>
  )
}
