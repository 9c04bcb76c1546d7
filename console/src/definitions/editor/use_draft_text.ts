/** The text that is being written, kept in this browser until it is published or discarded. */
import { useCallback, useEffect, useRef, useState } from 'react'

import { drafts } from '@/drafts/drafts'

const KEPT_AFTER_MS = 300

export type DraftText = {
  /** What the editor begins with: the draft, or else the published text. */
  initial: string
  /** The newest version when the draft was begun. */
  base: number
  /** Whether the browser has no room for the text. */
  isUnkept: boolean
  type: (text: string) => void
  /** The draft goes on from this version: its author has seen it. */
  rebase: (version: number) => void
  discard: () => void
}

/** `newest`: the version that the published text is followed by; 0 for a new definition. */
export function useDraftText(definitionId: string, published: string, newest: number): DraftText {
  const [place] = useState({ document: `definition/${definitionId}`, field: 'definition:text' })
  const [begun] = useState(() => drafts().find(place))
  const [base, setBase] = useState(begun?.base ? Number(begun.base) : newest)
  const [isUnkept, setUnkept] = useState(false)
  const waiting = useRef<string>(undefined)
  const latest = useRef({ base, published })
  useEffect(() => {
    latest.current = { base, published }
  })

  const keep = useCallback(() => {
    const text = waiting.current
    if (text === undefined) return
    waiting.current = undefined
    try {
      if (text === latest.current.published) drafts().drop(place)
      else drafts().keep(place, text, String(latest.current.base))
      setUnkept(false)
    } catch {
      setUnkept(true) // the storage of the browser is full
    }
  }, [place])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    addEventListener('pagehide', keep)
    return () => {
      removeEventListener('pagehide', keep)
      clearTimeout(timer.current)
      keep()
    }
  }, [keep])

  const type = (text: string) => {
    waiting.current = text
    clearTimeout(timer.current)
    timer.current = setTimeout(keep, KEPT_AFTER_MS)
  }
  const discard = () => {
    waiting.current = undefined
    drafts().drop(place)
  }
  const rebase = (version: number) => {
    const text = waiting.current ?? drafts().find(place)?.value
    drafts().drop(place) // a draft keeps the base that it began with
    latest.current.base = version
    setBase(version)
    if (typeof text === 'string') {
      waiting.current = text
      keep()
    }
  }
  const initial = typeof begun?.value === 'string' ? begun.value : published
  return { initial, base, isUnkept, type, rebase, discard }
}
