/** Sends a decision. The next document does not wait for the answer; a refusal is reported there, with a way back. */
import { notifications } from '@mantine/notifications'
import type { TFunction } from 'i18next'
import { createElement, useCallback, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { api, read } from '@/api/client'
import { keys } from '@/api/keys'
import { asProblem, type Problem } from '@/api/problem'
import { queryClient } from '@/api/queries'
import { problemText } from '@/kit/problem_text'
import { visible } from '@/format/text'

import { draftsOf, dropDraft, REASONS } from './kept'
import { LateRefusal } from './LateRefusal'
import type { Fields } from './model'
import { viewQuery } from './queries'
import type { Neighbour } from './queue'
import type { Claim } from './use_claim'

type Late = { problem: Problem; decided: Fields }

/** Refusals that came when the next document was shown already. */
const lateRefusals = new Map<string, Late>()

/** Returns why the decision about an item was refused after its page was left, once. */
export function takeLate(id: string): Late | undefined {
  const found = lateRefusals.get(id)
  lateRefusals.delete(id)
  return found
}

type Asked = {
  id: string
  claim: Claim
  title: string
  late: Late | undefined
  /**
   * The answer is waited for, so that a refusal is always shown in place: no document follows, or one that looks like this
   * one, whose problems the decision changes.
   */
  waits: boolean
  onNext: () => void
  onOpen: (neighbour: Neighbour) => void
}

export type Decision = {
  busy: boolean
  /** Why the last decision was refused. */
  problem: Problem | undefined
  forget: () => void
  /** Resolves to the refusal, if it came in time; the next document is shown otherwise. */
  send: (kind: 'approve' | 'reject', decided: Fields, why: string) => Promise<Problem | undefined>
  postpone: (until: string, why: string) => Promise<Problem | undefined>
}

export function useDecision({ id, claim, title, late, waits, onNext, onOpen }: Asked): Decision {
  const { t } = useTranslation()
  const [busy, setBusy] = useState(false)
  const leaves = useRef(false) // not a state, which would render this document once more before the next one
  const [problem, setProblem] = useState(late?.problem)

  const finish = useCallback(
    async (done: Promise<unknown>, decided?: Fields): Promise<Problem | undefined> => {
      leaves.current = !waits
      if (waits) {
        setBusy(true)
        setProblem(undefined)
      }
      const outcome = done.then(
        () => undefined,
        (error: unknown) => asProblem(error),
      )
      void outcome.then((refused) => !refused && forget(id))
      const early = waits ? await outcome : undefined
      if (early) {
        setBusy(false)
        setProblem(early)
        return early
      }
      claim.settled()
      onNext()
      if (waits) return undefined
      void outcome.then((refused) => {
        if (!refused) return
        if (decided) lateRefusals.set(id, { problem: refused, decided })
        reportLate(refused, id, visible(title), t, onOpen)
      })
      return undefined
    },
    [claim, id, waits, onNext, onOpen, t, title],
  )

  const send: Decision['send'] = useCallback(
    async (kind, decided, why) => {
      if (leaves.current) return undefined
      return finish(
        claim.token().then(async (token) => {
          const asked = { params: { path: { review_id: id } }, body: { token, digest: decided.digest, why } }
          if (kind === 'reject') return void (await read(api.POST('/v1/reviews/{review_id}/reject', asked)))
          const made = await read(api.POST('/v1/reviews/{review_id}/approve', asked))
          reportSecond(made.needs_second, title, t)
        }),
        decided,
      )
    },
    [claim, finish, id, t, title],
  )

  const postpone: Decision['postpone'] = useCallback(
    async (until, why) => {
      if (leaves.current) return undefined
      return finish(
        claim.token().then((token) =>
          read(
            api.POST('/v1/reviews/{review_id}/postpone', {
              params: { path: { review_id: id } },
              body: { token, until, why },
            }),
          ),
        ),
      )
    },
    [claim, finish, id],
  )

  return { busy, problem, forget: useCallback(() => setProblem(undefined), []), send, postpone }
}

/** The reason is sent, and the lists and the item are others now. */
function forget(id: string): void {
  draftsOf(REASONS, id).forEach(({ name }) => dropDraft(REASONS, id, name))
  void queryClient.invalidateQueries({ queryKey: keys.documents.all })
  void queryClient.invalidateQueries({
    queryKey: keys.reviews.all,
    predicate: ({ queryKey }) => !queryKey.includes(id),
  })
  queryClient.removeQueries({ queryKey: viewQuery(id).queryKey, type: 'inactive' })
}

function reportSecond(needsSecond: readonly unknown[], title: string, t: TFunction): void {
  if (needsSecond.length === 0) return
  notifications.show({ title: t('review.firstOfTwo'), message: visible(title), color: 'blue', autoClose: 6000 })
}

function reportLate(
  problem: Problem,
  id: string,
  title: string,
  t: TFunction,
  onOpen: (neighbour: Neighbour) => void,
): void {
  void queryClient.invalidateQueries({ queryKey: viewQuery(id).queryKey })
  const { title: what, detail } = problemText(problem, t)
  const shown = notifications.show({
    title: t('review.notDecided', { title }),
    message: createElement(LateRefusal, {
      words: `${what}. ${detail}`,
      label: t('review.backToIt'),
      onBack: () => {
        notifications.hide(shown)
        onOpen({ reviewId: id })
      },
    }),
    color: 'red',
    autoClose: false,
  })
}
