import { Text, UnstyledButton } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'

import type { Marked } from './PagePane'
import { pictureUrl } from './queries'
import classes from './review.module.css'

const HEIGHT = 116

type Props = { documentId: string; count: number; page: number; marks: Marked[]; onPage: (page: number) => void }

/** Small pictures of the pages, to go to one. Only those in view are there. */
export function PageStrip({ documentId, count, page, marks, onPage }: Props) {
  const { t } = useTranslation()
  const scroller = useRef<HTMLDivElement>(null)
  // oxlint-disable-next-line react/incompatible-library -- its functions are not passed on
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => HEIGHT,
    overscan: 1,
  })
  useEffect(() => rows.scrollToIndex(page - 1), [page, rows])
  return (
    <nav className={classes.strip} ref={scroller} aria-label={t('review.pages')}>
      <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const number = index + 1
          const isMarked = marks.some((mark) => mark.page === number)
          return (
            <UnstyledButton
              key={number}
              className={classes.thumb}
              style={{ transform: `translateY(${start}px)` }}
              aria-label={t('review.pageOf', { page: number, count })}
              aria-current={number === page ? 'page' : undefined}
              onClick={() => onPage(number)}
              onMouseDown={(event) => event.preventDefault()}
            >
              <img src={pictureUrl(documentId, number, 'small')} alt="" loading="lazy" draggable={false} />
              <Text size="xs" c="dimmed" className="numbers">
                {number}
                {isMarked && <span className={classes.dot} aria-hidden />}
              </Text>
            </UnstyledButton>
          )
        })}
      </div>
    </nav>
  )
}
