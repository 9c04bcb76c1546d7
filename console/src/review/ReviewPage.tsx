import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef } from 'react'
import { useTranslation } from 'react-i18next'

import { useMe } from '@/api/me'
import { Loading } from '@/kit/Loading'
import { Page } from '@/kit/Page'
import { Trouble } from '@/kit/Trouble'

import { fetchAhead, refresh, viewQuery } from './queries'
import { filtersOf, firstOf, type Neighbour, neighboursQuery, nextOf } from './queue'
import { Sheet } from './Sheet'

/** The review of one document, and the way to the next one of the list that it was opened from. */
export function ReviewPage() {
  const { t } = useTranslation()
  const { reviewId } = useParams({ from: '/review/$reviewId' })
  const { queue, below, page = 1 } = useSearch({ from: '/review/$reviewId' })
  const navigate = useNavigate()
  const view = useQuery({ ...viewQuery(reviewId), refetchOnMount: 'always' })
  const me = useMe()?.name ?? ''
  const { data: neighbours } = useQuery(neighboursQuery(queue, view.data?.fields.document_id, below))
  const following = useMemo(() => neighbours && nextOf(neighbours), [neighbours])

  const open = useCallback(
    ({ reviewId: id, ...place }: Neighbour) =>
      void navigate({
        to: '/review/$reviewId',
        params: { reviewId: id },
        search: { queue, ...place },
        resetScroll: false,
      }),
    [navigate, queue],
  )
  const turn = useCallback(
    (to: number) =>
      void navigate({
        to: '.',
        search: ((before: object) => ({ ...before, page: to })) as never,
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  )
  const leave = useCallback(() => void navigate({ to: '/', search: filtersOf(queue) as never }), [navigate, queue])
  /** The item that a decision led to, until it is claimed. */
  const ledTo = useRef<string>(undefined)
  const goOn = useCallback(async () => {
    const first = following ? undefined : await firstOf(queue, reviewId, me).catch(() => undefined)
    const next: Neighbour | undefined = following ?? (first === undefined ? undefined : { reviewId: first })
    // The decision about this document changes the problems of one that looks like it: they are shown from the beginning.
    if (next?.below !== undefined) await refresh(next.reviewId)
    ledTo.current = next?.reviewId
    if (next) return open(next)
    notifications.show({ title: t('review.deskEmpty'), message: t('review.deskEmptyHint'), color: 'teal' })
    leave()
  }, [following, leave, me, open, queue, reviewId, t])

  const onClaim = useCallback(
    (taken: { title: string; by: string } | undefined) => {
      if (ledTo.current !== reviewId) return
      ledTo.current = undefined
      if (!taken) return
      notifications.show({ message: t('review.passedOver', taken), color: 'blue', autoClose: 6000 })
      void goOn()
    },
    [goOn, reviewId, t],
  )

  useEffect(() => {
    if (view.data && following) void fetchAhead(following.reviewId)
  }, [view.data, following])

  if (!view.data) {
    return (
      <Page title={t('review.title')}>
        {view.error ? <Trouble error={view.error} retry={() => void view.refetch()} /> : <Loading height={240} />}
      </Page>
    )
  }
  return (
    <Sheet
      key={reviewId}
      view={view.data}
      page={page}
      neighbours={neighbours}
      onPage={turn}
      onOpen={open}
      onNext={() => void goOn()}
      onClaim={onClaim}
      onLeave={leave}
      onReload={() => void view.refetch()}
    />
  )
}
