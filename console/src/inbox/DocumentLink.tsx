import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { useMay } from '@/api/me'

import type { Row } from './queries'
import classes from './Rows.module.css'
import { type InboxSearch, queueOf } from './search'

type Props = { row: Row; search: InboxSearch; children: ReactNode }

/**
 * Leads to a document's review with the list as its queue, or to the document if there is no review, or none that the person
 * may see.
 */
export function DocumentLink({ row, search, children }: Props) {
  const mayReview = useMay('review')
  const shared = { className: classes.name, tabIndex: -1, children }
  if (row.review_id === null || !mayReview) {
    return <Link {...shared} to="/documents/$documentId" params={{ documentId: row.document_id }} />
  }
  const params = { reviewId: row.review_id }
  return <Link {...shared} to="/review/$reviewId" params={params} search={{ queue: queueOf(search) }} />
}

/** Opens a document as its link does. */
export function useOpen(search: InboxSearch): (row: Row) => void {
  const navigate = useNavigate()
  const mayReview = useMay('review')
  return ({ review_id, document_id }) => {
    if (review_id === null || !mayReview)
      void navigate({ to: '/documents/$documentId', params: { documentId: document_id } })
    else void navigate({ to: '/review/$reviewId', params: { reviewId: review_id }, search: { queue: queueOf(search) } })
  }
}
