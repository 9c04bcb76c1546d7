import { ActionIcon, Group, Loader, Text, Tooltip } from '@mantine/core'
import {
  IconContrast,
  IconFileCode,
  IconMaximize,
  IconPhotoOff,
  IconRotateClockwise,
  IconZoomIn,
  IconZoomOut,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type PointerEvent, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { oneOf, preference } from '@/app/preferences'
import { useSignal } from '@/app/signal'
import { useCommands } from '@/keyboard/use_commands'

import { afterPaint } from './after_paint'
import {
  around,
  moved,
  type Pose,
  type Size,
  type Turn,
  turnedBox,
  turnedSize,
  whole,
  wide,
  wordAt,
  wordsBetween,
  zoomed,
} from './geometry'
import type { Box, Place } from './model'
import { PageStrip } from './PageStrip'
import { pictureUrl, wordsQuery } from './queries'
import classes from './review.module.css'

const A4: Size = { width: 595, height: 842 }
const STEP = 1.25

/** How pages look: as they are, or with light and dark exchanged, for eyes that a white page hurts. */
const look = preference('page', oneOf('plain', 'dark'))

/** A field's box on a page. */
export type Marked = { name: string; page: number; box: Box }

type Props = {
  documentId: string
  pageCount: number
  /** The page to begin with; `onPage` is called with another one that is shown. */
  startPage: number
  marks: Marked[]
  /** The place to look at; a new object moves there again. */
  focus: { name: string; place: Place } | undefined
  /** Whether a click on a word fills a field. */
  fills: boolean
  onWord: (text: string, place: Place) => void
  onMark: (name: string) => void
  onPage: (page: number) => void
  /** The first page, or the note that there is none, is on the screen. */
  onPainted: () => void
}

/** The pages of a document as pictures, with the boxes of its fields. */
export function PagePane(props: Props) {
  const { documentId, pageCount, startPage, marks, focus, fills, onWord, onMark, onPage, onPainted } = props
  const { t } = useTranslation()
  const [page, setPage] = useState(focus?.place.page ?? Math.min(startPage, Math.max(pageCount, 1)))
  const [turns, setTurns] = useState<Record<number, Turn>>({})
  const turn = turns[page] ?? 0
  const isDark = useSignal(look) === 'dark'
  const frame = useRef<HTMLDivElement>(null)
  const room = useSize(frame)
  const [picture, setPicture] = useState<Size>(A4)
  const [loaded, setLoaded] = useState<'no' | 'yes' | 'failed'>('no')
  const [pose, setPose] = useState<Pose | undefined>()
  const size = turnedSize(picture, turn)

  const take = useCallback(({ naturalWidth, naturalHeight }: HTMLImageElement) => {
    setPicture({ width: A4.width, height: (A4.width * naturalHeight) / Math.max(naturalWidth, 1) })
    setLoaded('yes')
  }, [])
  // A picture that was fetched ahead is there at once: its event would come a frame later.
  const lookAhead = useCallback(
    (image: HTMLImageElement | null) => {
      if (image?.complete && image.naturalWidth > 0) take(image)
    },
    [take],
  )

  const shown = useRef(page)
  const turnTo = useCallback(
    (number: number) => {
      if (number < 1 || number > pageCount || number === shown.current) return false
      shown.current = number
      setPage(number)
      onPage(number)
      return true
    },
    [pageCount, onPage],
  )
  const go = (number: number) => {
    if (turnTo(number)) setPose(undefined)
  }

  useEffect(() => {
    if (focus) turnTo(focus.place.page)
  }, [focus, turnTo])

  useLayoutEffect(() => {
    if (!room) return
    const here = focus?.place.page === page ? focus.place.box : undefined
    setPose(here ? around(turnedBox(here, turn), size, room) : wide(size, room))
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- a new size or place moves the page, nothing else does
  }, [focus, page, turn, room?.width, room?.height, picture.width, picture.height])

  useEffect(() => {
    if (pageCount === 0 || loaded === 'failed') return afterPaint(onPainted)
    if (loaded === 'yes') return afterPaint(onPainted)
  }, [pageCount, loaded, onPainted])

  const zoom = useCallback(
    (factor: number, x?: number, y?: number) =>
      room &&
      setPose((before) => before && zoomed(before, factor, x ?? room.width / 2, y ?? room.height / 2, size, room)),
    [room, size],
  )
  useWheel(frame, (event) => {
    if (!room) return
    if (!event.ctrlKey && !event.metaKey) {
      setPose((before) => before && moved(before, -event.deltaX, -event.deltaY, size, room))
      return
    }
    const { left, top } = (frame.current as HTMLElement).getBoundingClientRect()
    zoom(Math.exp(-event.deltaY / 300), event.clientX - left, event.clientY - top)
  })

  const hasPages = pageCount > 0
  useCommands({
    'review.next-page': hasPages ? () => go(page + 1) : undefined,
    'review.previous-page': hasPages ? () => go(page - 1) : undefined,
    'review.zoom-in': hasPages ? () => zoom(STEP) : undefined,
    'review.zoom-out': hasPages ? () => zoom(1 / STEP) : undefined,
    'review.zoom-fit': hasPages ? () => room && setPose(whole(size, room)) : undefined,
  })

  if (!hasPages) {
    return (
      <div className={classes.noPages}>
        <IconFileCode size={36} stroke={1.3} aria-hidden />
        <Text fw={600}>{t('review.noPages')}</Text>
        <Text size="sm" c="dimmed" maw={360}>
          {t('review.noPagesHint')}
        </Text>
      </div>
    )
  }
  return (
    <section className={classes.pane} aria-label={t('review.pageOf', { page, count: pageCount })}>
      {pageCount > 1 && <PageStrip documentId={documentId} count={pageCount} page={page} marks={marks} onPage={go} />}
      <div className={classes.frame} ref={frame} data-fills={fills || undefined}>
        {pose && (
          <div
            className={classes.paper}
            style={{
              width: size.width,
              height: size.height,
              transform: `translate(${pose.x}px, ${pose.y}px) scale(${pose.scale})`,
            }}
          >
            <div
              className={classes.turned}
              data-turn={turn}
              data-dark={isDark || undefined}
              style={{ width: picture.width, height: picture.height }}
            >
              <img
                key={`${documentId} ${page}`}
                src={pictureUrl(documentId, page)}
                alt={t('review.pageOf', { page, count: pageCount })}
                draggable={false}
                decoding="sync"
                ref={lookAhead}
                onLoad={({ currentTarget }) => take(currentTarget)}
                onError={() => setLoaded('failed')}
              />
              <Overlay
                key={page}
                documentId={documentId}
                page={page}
                marks={marks.filter((mark) => mark.page === page)}
                focused={focus?.place.page === page ? focus : undefined}
                fills={fills}
                scale={pose.scale}
                onWord={onWord}
                onMark={onMark}
                onPan={(dx, dy) => room && setPose((before) => before && moved(before, dx, dy, size, room))}
              />
            </div>
          </div>
        )}
        {loaded === 'no' && (
          <Loader className={classes.loading} size="sm" role="status" aria-label={t('app.loading')} />
        )}
        {loaded === 'failed' && (
          <div className={classes.failed}>
            <IconPhotoOff size={32} stroke={1.4} aria-hidden />
            <Text size="sm">{t('review.noPicture')}</Text>
          </div>
        )}
        <Group className={classes.tools} gap={2} wrap="nowrap">
          {pageCount > 1 && (
            <Text size="xs" c="dimmed" px={6} className="numbers">
              {t('review.pageShort', { page, count: pageCount })}
            </Text>
          )}
          <Tool label={t('review.zoomOut')} icon={IconZoomOut} onClick={() => zoom(1 / STEP)} />
          <Tool label={t('review.zoomIn')} icon={IconZoomIn} onClick={() => zoom(STEP)} />
          <Tool label={t('review.wholePage')} icon={IconMaximize} onClick={() => room && setPose(whole(size, room))} />
          <Tool
            label={t('review.rotate')}
            icon={IconRotateClockwise}
            onClick={() => setTurns({ ...turns, [page]: ((turn + 90) % 360) as Turn })}
          />
          <Tool
            label={t('review.darkPage')}
            icon={IconContrast}
            isOn={isDark}
            onClick={() => look.set(isDark ? 'plain' : 'dark')}
          />
        </Group>
      </div>
    </section>
  )
}

type ToolProps = { label: string; icon: typeof IconZoomIn; isOn?: boolean; onClick: () => void }

function Tool({ label, icon: Symbol, isOn, onClick }: ToolProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        aria-label={label}
        aria-pressed={isOn}
        onClick={onClick}
        onMouseDown={(event) => event.preventDefault()}
      >
        <Symbol size={17} stroke={1.7} />
      </ActionIcon>
    </Tooltip>
  )
}

type OverlayProps = Pick<Props, 'documentId' | 'marks' | 'fills' | 'onWord' | 'onMark'> & {
  page: number
  focused: Props['focus']
  scale: number
  onPan: (dx: number, dy: number) => void
}

/** The boxes of the fields, and the words under the pointer. */
function Overlay({ documentId, page, marks, focused, fills, scale, onWord, onMark, onPan }: OverlayProps) {
  const { data: words = [] } = useQuery({ ...wordsQuery(documentId, page), enabled: fills })
  const [hovered, setHovered] = useState<{ from: number | undefined; to: number }>()
  const last = useRef<{ x: number; y: number } | undefined>(undefined)
  const found = hovered && wordsBetween(words, hovered.from ?? hovered.to, hovered.to)

  const point = (event: PointerEvent<HTMLDivElement>): number | undefined => {
    const { clientWidth, clientHeight } = event.currentTarget
    // offsets are those of the page before it is turned and zoomed
    return wordAt(words, event.nativeEvent.offsetX / clientWidth, event.nativeEvent.offsetY / clientHeight)
  }
  const down = (event: PointerEvent<HTMLDivElement>) => {
    event.preventDefault() // the field keeps the focus
    const word = fills ? point(event) : undefined
    if (word === undefined) last.current = { x: event.clientX, y: event.clientY }
    else setHovered({ from: word, to: word })
    event.currentTarget.setPointerCapture(event.pointerId)
  }
  const move = (event: PointerEvent<HTMLDivElement>) => {
    if (last.current) {
      onPan(event.clientX - last.current.x, event.clientY - last.current.y)
      last.current = { x: event.clientX, y: event.clientY }
      return
    }
    if (!fills) return
    const word = point(event)
    if (word === undefined) setHovered(hovered?.from === undefined ? undefined : hovered)
    else setHovered({ from: hovered?.from, to: word })
  }
  const up = (event: PointerEvent<HTMLDivElement>) => {
    event.currentTarget.releasePointerCapture(event.pointerId)
    last.current = undefined
    if (hovered?.from !== undefined && found) onWord(found.text, { page, box: found.box })
    setHovered(undefined)
  }
  const line = { '--line-width': `${1.5 / scale}px` } as React.CSSProperties
  return (
    <div
      className={classes.overlay}
      data-testid="page-words"
      style={line}
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerLeave={() => !last.current && setHovered(undefined)}
    >
      {marks.map(({ name, box }) => (
        <div
          key={name}
          className={classes.mark}
          data-field={name}
          style={placed(box)}
          onPointerDown={(event) => {
            if (fills) return
            event.preventDefault()
            event.stopPropagation()
            onMark(name)
          }}
        />
      ))}
      {focused && (
        <div className={classes.focusedMark} data-testid="focused-box" style={placed(grown(focused.place.box))} />
      )}
      {fills && found && <div className={classes.word} style={placed(found.box)} />}
    </div>
  )
}

function placed([left, top, right, bottom]: Box): React.CSSProperties {
  const share = (value: number) => `${100 * value}%`
  return { left: share(left), top: share(top), width: share(right - left), height: share(bottom - top) }
}

function grown([left, top, right, bottom]: Box): Box {
  const by = 0.003
  return [left - by, top - by, right + by, bottom + by]
}

function useSize(element: React.RefObject<HTMLElement | null>): Size | undefined {
  const [size, setSize] = useState<Size>()
  useLayoutEffect(() => {
    const observed = element.current
    if (!observed) return
    const measure = () => setSize({ width: observed.clientWidth, height: observed.clientHeight })
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(observed)
    return () => observer.disconnect()
  }, [element])
  return size
}

/** Follows the wheel, and keeps the page from scrolling or zooming as a whole. */
function useWheel(element: React.RefObject<HTMLElement | null>, onWheel: (event: WheelEvent) => void): void {
  const latest = useRef(onWheel)
  useEffect(() => {
    latest.current = onWheel
  })
  useEffect(() => {
    const followed = element.current
    const follow = (event: WheelEvent) => {
      event.preventDefault()
      latest.current(event)
    }
    followed?.addEventListener('wheel', follow, { passive: false })
    return () => followed?.removeEventListener('wheel', follow)
  }, [element])
}
