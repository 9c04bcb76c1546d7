/** Sends a decision. The next document does not wait for a slow answer; a late refusal is reported with a way back. */
import type { TFunction } from 'i18next'
import { notifications } from '@mantine/notifications'
import { useCallback, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { api, read } from '@/api/client'
import { keys } from '@/api/keys'
import { asProblem, type Problem } from '@/api/problem'
import { queryClient } from '@/api/queries'
import { problemText } from '@/kit/problem_text'
import { visible } from '@/format/text'

import { viewQuery } from './queries'
import type { Claim } from './use_claim'

/** How long the page waits for the answer before it shows the next document. */
const PATIENCE_MS = 60

type Asked = { id: string; claim: Claim; title: string; me: string; onNext: () => void }

export type Decision = {
  busy: boolean
  /** Why the last decision was refused. */
  problem: Problem | undefined
  forget: () => void
  /** Resolves to the refusal, if it came in time; the next document is shown otherwise. */
  send: (kind: 'approve' | 'reject', digest: string, why: string) => Promise<Problem | undefined>
  postpone: (until: string, why: string) => Promise<Problem | undefined>
}

export function useDecision({ id, claim, title, onNext }: Asked): Decision {
  const { t } = useTranslation()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem>()

  const finish = useCallback(
    async (done: Promise<unknown>): Promise<Problem | undefined> => {
      setBusy(true)
      setProblem(undefined)
      const outcome = done.then(
        () => undefined,
        (error: unknown) => asProblem(error),
      )
      void outcome.then((refused) => !refused && forgetLists(id))
      const early = await Promise.race([outcome, patience()])
      if (early && early !== 'slow') {
        setBusy(false)
        setProblem(early)
        return early
      }
      claim.settled()
      onNext()
      if (early === 'slow') void outcome.then((refused) => refused && reportLate(refused, id, visible(title), t))
      return undefined
    },
    [claim, id, onNext, t, title],
  )

  const send: Decision['send'] = useCallback(
    (kind, digest, why) =>
      finish(
        claim.token().then(async (token) => {
          const asked = { params: { path: { review_id: id } }, body: { token, digest, why } }
          if (kind === 'reject') return void (await read(api.POST('/v1/reviews/{review_id}/reject', asked)))
          const made = await read(api.POST('/v1/reviews/{review_id}/approve', asked))
          reportSecond(made.needs_second, title, t)
        }),
      ),
    [claim, finish, id, t, title],
  )

  const postpone: Decision['postpone'] = useCallback(
    (until, why) =>
      finish(
        claim.token().then((token) =>
          read(
            api.POST('/v1/reviews/{review_id}/postpone', {
              params: { path: { review_id: id } },
              body: { token, until, why },
            }),
          ),
        ),
      ),
    [claim, finish, id],
  )

  return { busy, problem, forget: useCallback(() => setProblem(undefined), []), send, postpone }
}

function patience(): Promise<'slow'> {
  return new Promise((resolve) => setTimeout(() => resolve('slow'), PATIENCE_MS))
}

/** The lists and the item are others now. */
function forgetLists(id: string): void {
  void queryClient.invalidateQueries({ queryKey: keys.documents.all })
  void queryClient.invalidateQueries({
    queryKey: keys.reviews.all,
    predicate: ({ queryKey }) => !queryKey.includes(id),
  })
  queryClient.removeQueries({ queryKey: viewQuery(id).queryKey, type: 'inactive' })
}

function reportSecond(needsSecond: string[], title: string, t: TFunction): void {
  if (needsSecond.length === 0) return
  notifications.show({ title: t('review.firstOfTwo'), message: visible(title), color: 'blue', autoClose: 6000 })
}

function reportLate(problem: Problem, id: string, title: string, t: TFunction): void {
  void queryClient.invalidateQueries({ queryKey: viewQuery(id).queryKey })
  const { title: what, detail } = problemText(problem, t)
  notifications.show({
    title: t('review.notDecided', { title }),
    message: `${what}. ${detail}`,
    color: 'red',
    autoClose: false,
  })
}
