import { Anchor, Card, Divider, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'
import { useMay } from '@/api/me'
import { isProblem } from '@/api/problem'
import { drafts, useDrafts } from '@/drafts/drafts'
import { visible } from '@/format/text'
import { Empty } from '@/kit/Empty'
import { Loading } from '@/kit/Loading'
import { Page } from '@/kit/Page'
import { Trouble } from '@/kit/Trouble'
import { Name, Time } from '@/kit/Values'

import { AnswerForm } from './AnswerForm'
import { consequencesOf, stepsOf, timeoutOf } from './consequences'
import { answerOf, type Fault, fieldsOf, type Json, type Typed } from './fields'
import { processQuery, reviewQuery } from './queries'
import { decideRoute } from './route'
import { DocumentPages, Facts } from './Subject'
import { WhatHappens } from './WhatHappens'

type Review = Model<'FullReview'>

/** A question of a run to a person. */
export function DecidePage() {
  const { reviewId } = decideRoute.useParams()
  const { t } = useTranslation()
  const review = useQuery(reviewQuery(reviewId))
  if (review.data) return <Question key={reviewId} review={review.data} />
  return (
    <Page title={t('decide.title')}>
      {review.error ? <Trouble error={review.error} retry={() => void review.refetch()} /> : <Loading height={240} />}
    </Page>
  )
}

function Question({ review }: { review: Review }) {
  const isOpen = review.status === 'open' || review.status === 'postponed'
  return (
    <Page title={visible(review.title)} description={<Origin review={review} />}>
      <SimpleGrid cols={{ base: 1, md: review.document_id ? 2 : 1 }} spacing="lg">
        <Stack gap="md" maw={640}>
          <Facts show={review.show} />
          {isOpen ? <Form review={review} /> : <Answered review={review} />}
        </Stack>
        {review.document_id && <DocumentPages documentId={review.document_id} />}
      </SimpleGrid>
    </Page>
  )
}

/** Who asks, and until when. */
function Origin({ review }: { review: Review }) {
  const { t } = useTranslation()
  return (
    <Group gap="4px 14px" component="span">
      <Anchor renderRoot={(props) => <Link {...props} to="/runs/$runId" params={{ runId: review.run_id }} />} size="sm">
        {review.run_id}
      </Anchor>
      <span>{t('decide.queue', { queue: review.queue })}</span>
      {review.due_at && (
        <span>
          {t('decide.until')} <Time value={review.due_at} />
        </span>
      )}
    </Group>
  )
}

function Form({ review }: { review: Review }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const mayAnswer = useMay('review')
  const { typed, keep, forget } = useTyped(review.review_id)
  const [problems, setProblems] = useState<Record<string, Fault | { said: string }>>({})
  const fields = useMemo(() => fieldsOf(review.form as Record<string, Json>), [review.form])
  const answer = answerOf(fields, typed)
  const sending = useMutation({
    mutationFn: (decision: Json) => {
      const params = { path: { review_id: review.review_id } }
      return read(api.POST('/v1/reviews/{review_id}/decision', { params, body: { decision } }))
    },
    onSuccess: forget,
    onError: (error) => setProblems(problemsOf(error)),
    onSettled: () => client.invalidateQueries({ queryKey: keys.reviews.all }),
  })
  const send = () => {
    setProblems(answer.problems)
    if (Object.keys(answer.problems).length === 0 && !sending.isPending) sending.mutate(answer.value)
  }
  const type = (name: string, text: string) => {
    keep(name, text)
    setProblems((before) => Object.fromEntries(Object.entries(before).filter(([each]) => each !== name)))
  }
  if (!mayAnswer) return <Text size="sm">{t('decide.mayNot')}</Text>
  const isSaid = Object.keys(problems).length > 0
  return (
    <Card withBorder padding="md">
      <Stack gap="md">
        <SoFar review={review} />
        <AnswerForm
          fields={fields}
          typed={typed}
          problems={problems}
          isSending={sending.isPending}
          onType={type}
          onSend={send}
        />
        {sending.error && !isSaid && <Trouble error={sending.error} />}
        <Divider />
        <Process review={review} answer={answer.value} />
      </Stack>
    </Card>
  )
}

/** What is typed, kept in the outbox until the answer is sent: a reload or a crash loses none of it. */
function useTyped(reviewId: string) {
  const kept = useDrafts(reviewId)
  const typed: Typed = Object.fromEntries(kept.map(({ field, value }) => [field.slice(PREFIX.length), String(value)]))
  return {
    typed,
    keep: (name: string, text: string) => drafts().keep({ document: reviewId, field: PREFIX + name }, text, null),
    forget: () => kept.forEach((draft) => drafts().drop(draft)),
  }
}

const PREFIX = 'answer:'

/** How many people must agree, and who has answered. */
function SoFar({ review }: { review: Review }) {
  const { t } = useTranslation()
  if (review.approvals_needed < 2) return null
  const names = review.decided_so_far.map(({ by }) => by).join(', ')
  return (
    <Text size="sm">
      {t('decide.agree', { needed: review.approvals_needed })} {names && t('decide.soFar', { names: visible(names) })}
    </Text>
  )
}

/** What happens on the answer that is chosen now, and without one. */
function Process({ review, answer }: { review: Review; answer: Json }) {
  const { t } = useTranslation()
  const process = useQuery({ ...processQuery(review.run_id), retry: false })
  const stepId = review.step_id ?? ''
  const body = process.data?.body as Json | undefined
  const after = useMemo(() => ({ steps: stepsOf(body), timeout: timeoutOf(body, stepId) }), [body, stepId])
  if (!process.data) return null
  return (
    <Stack gap="xs">
      <Title order={2}>{t('decide.whatHappens')}</Title>
      <WhatHappens consequences={consequencesOf(after.steps, stepId, answer)} />
      {after.timeout && review.due_at && (
        <Text size="sm" c="dimmed">
          {t('decide.noAnswer')} <Time value={review.due_at} />:{' '}
          {after.timeout.escalateTo && `${t('decide.escalates', { queue: after.timeout.escalateTo })} `}
          {t(`decide.timeouts.${timeoutWord(after.timeout.outcome)}`)}
        </Text>
      )}
    </Stack>
  )
}

function timeoutWord(outcome: string): 'abort' | 'fail' | 'continue' | 'branch' {
  return outcome === 'abort' || outcome === 'continue' || outcome === 'branch' ? outcome : 'fail'
}

function Answered({ review }: { review: Review }) {
  const { t } = useTranslation()
  const decided = review.status === 'decided'
  return (
    <Empty
      icon={IconCircleCheck}
      title={t(decided ? 'decide.answered' : 'decide.closed')}
      action={
        <Anchor renderRoot={(props) => <Link {...props} to="/decide" />} size="sm">
          {t('decide.others')}
        </Anchor>
      }
    >
      {decided && review.decided_by ? (
        <>
          {t('decide.answeredBy')} <Name value={review.decided_by} />
        </>
      ) : undefined}
    </Empty>
  )
}

/** The server's problems with an answer, by field; those of the whole answer are shown below the form. */
function problemsOf(error: unknown): Record<string, { said: string }> {
  if (!isProblem(error, 'invalid-input')) return {}
  const found = (error.body.problems ?? []) as { path: string; message: string }[]
  return Object.fromEntries(
    found.map(({ path, message }) => [path.replace(/^decision\.?/, '').split('.')[0] ?? '', { said: message }]),
  )
}
