/**
 * What is being typed into the fields of one document, and its way to the server: a field is saved when it is left. What
 * is not saved yet is kept, also when the page is reloaded.
 */
import { startTransition, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

import { api, type Model, read } from '@/api/client'
import { asProblem, type Problem, UNREACHABLE } from '@/api/problem'

import { draftsOf, dropDraft, FIELDS, keepDraft } from './kept'
import { fieldOf, type Fields, type Place } from './model'
import { typedText } from './typing'

/** How often a server that did not answer is asked again. */
export const AGAIN_MS = 3000

/** How a field stands. Without an entry it is as the server has it. */
export type Entry = {
  /** What is typed; undefined once it is saved. */
  text: string | undefined
  place?: Place | undefined
  state: 'typed' | 'saving' | 'waits' | 'asks' | 'wrong' | 'saved'
  /** With `asks`: the readings to choose from. */
  readings?: string[]
  /** With `wrong` and `waits`: why. */
  problem?: Problem
  /** With `saved`: how the text was read, if that is not plain. */
  because?: Model<'Because'> | undefined
}

export type Entries = Record<string, Entry>

export type Saving = {
  entries: Entries
  type: (name: string, text: string, place?: Place) => void
  /** Saves a field now: what is typed, or a given text. Resolves to whether it is saved. */
  save: (name: string, text?: string, place?: Place) => Promise<boolean>
  /** Saves everything that is typed; resolves to the first field that could not be saved. */
  flush: () => Promise<string | undefined>
  /** Forgets what is typed into a field. */
  forget: (name: string) => void
  /** Runs an action after the saves before it, one after the other. */
  inTurn: <T>(action: (token: number) => Promise<T>) => Promise<T>
}

type Asked = {
  fields: Fields
  /** Whether the person may change fields: what waits is sent then. */
  mayChange: boolean
  token: () => Promise<number>
  onSaved: (fields: Fields) => void
  /** Looks at a document that could not be changed again. Resolves to its fields if the person may change them now. */
  onLost: (problem: Problem) => Promise<Fields | undefined>
}

export function useSaving({ fields, mayChange, token, onSaved, onLost }: Asked): Saving {
  const documentId = fields.document_id
  const [entries, setEntries] = useState<Entries>(() => restored(fields))
  const latest = useRef(entries)
  const shown = useRef(fields)
  useLayoutEffect(() => {
    shown.current = fields
  }, [fields])
  const turn = useRef<Promise<unknown>>(Promise.resolve())

  const put = useCallback((name: string, entry: Entry | undefined) => {
    const { [name]: _, ...others } = latest.current
    latest.current = entry ? { ...others, [name]: entry } : others
    setEntries(latest.current)
  }, [])

  const inTurn = useCallback(
    <T>(action: (token: number) => Promise<T>): Promise<T> => {
      const result = turn.current.then(token).then(action)
      turn.current = result.catch(() => undefined)
      return result
    },
    [token],
  )

  const type = useCallback(
    (name: string, text: string, place?: Place) => {
      keepDraft(FIELDS, documentId, name, text, textOf(shown.current, name))
      put(name, { text, place, state: 'typed' })
    },
    [documentId, put],
  )

  const forget = useCallback(
    (name: string) => {
      dropDraft(FIELDS, documentId, name)
      put(name, undefined)
    },
    [documentId, put],
  )

  /**
   * Sends a text. A claim that is over is taken again, and the text sent at once: tabs that wait in between take the claim
   * from each other without an end.
   */
  const send = useCallback(
    async (name: string, text: string, held: number, place?: Place): Promise<Fields> => {
      try {
        return await sent(documentId, name, text, held, place)
      } catch (error) {
        const problem = asProblem(error)
        const isOver = problem.kind === 'claim-lost'
        const now = isOver || problem.kind === 'wrong-state' ? await onLost(problem) : undefined
        if (now) shown.current = now // the next text is compared with it before it is drawn
        if (!isOver || !now || !isAsBefore(now, name)) throw problem
        return sent(documentId, name, text, await token(), place)
      }
    },
    [documentId, onLost, token],
  )

  const save = useCallback(
    async (name: string, given?: string, place?: Place): Promise<boolean> => {
      const entry = latest.current[name]
      const text = given ?? entry?.text
      if (text === undefined || entry?.state === 'saving') return entry?.state !== 'wrong' && entry?.state !== 'asks'
      const found = place ?? entry?.place
      put(name, { text, place: found, state: 'saving' })
      keepDraft(FIELDS, documentId, name, text, textOf(shown.current, name), true)
      try {
        const after = await inTurn((held) => send(name, text, held, found))
        const isTouched = latest.current[name]?.state === 'typed'
        if (!isTouched) {
          dropDraft(FIELDS, documentId, name)
          const because = after.understood?.because ?? undefined
          // A decision that waited for this shows the next document first.
          startTransition(() => put(name, { text: undefined, state: 'saved', because }))
        }
        onSaved(after)
        return true
      } catch (error) {
        const problem = asProblem(error)
        if (latest.current[name]?.state !== 'typed') put(name, refused(text, found, problem))
        return false
      }
    },
    [documentId, inTurn, onSaved, put, send],
  )

  /** Leaves a waiting text to its person if someone else has changed the field meanwhile; returns whether it did. */
  const leave = useCallback(
    (name: string): boolean => {
      const { text, place, state } = latest.current[name] ?? {}
      if (state !== 'waits' || isAsBefore(shown.current, name)) return false
      put(name, { text, place, state: 'typed' })
      return true
    },
    [put],
  )

  const flush = useCallback(async () => {
    for (const [name, entry] of Object.entries(latest.current)) {
      if (entry.text !== undefined && (leave(name) || !(await save(name)))) return name
    }
    await turn.current
    return Object.entries(latest.current).find(([, entry]) => entry.text !== undefined)?.[0]
  }, [leave, save])

  const waits = Object.values(entries).some((entry) => entry.state === 'waits')
  useEffect(() => {
    if (!waits || !mayChange) return
    const sendAll = async () => {
      for (const [name, { state }] of Object.entries(latest.current)) {
        if (state === 'waits' && !leave(name)) await save(name)
      }
    }
    const timer = setInterval(() => void sendAll(), AGAIN_MS)
    return () => clearInterval(timer)
  }, [waits, mayChange, leave, save])

  return { entries, type, save, flush, forget, inTurn }
}

function sent(documentId: string, name: string, text: string, token: number, place?: Place): Promise<Fields> {
  const path = { document_id: documentId, field: name as never }
  const body = { text, token, why: '', page: place?.page ?? null, box: place?.box ?? null }
  return read(api.PUT('/v1/documents/{document_id}/fields/{field}/text', { params: { path }, body }))
}

function refused(text: string, place: Place | undefined, problem: Problem): Entry {
  if (problem.kind === 'ambiguous-value') return { text, place, state: 'asks', readings: problem.body.readings ?? [] }
  const isForLater = problem.kind === UNREACHABLE || problem.status >= 500 || problem.kind === 'claim-lost'
  if (isForLater) return { text, place, state: 'waits', problem }
  return { text, place, state: 'wrong', problem }
}

/** What was typed before a reload. What was on its way waits to be sent. */
function restored(fields: Fields): Entries {
  return Object.fromEntries(
    draftsOf(FIELDS, fields.document_id).map(({ name, text, isLeft }) => {
      return [name, { text, state: isLeft && isAsBefore(fields, name) ? 'waits' : 'typed' }]
    }),
  )
}

/** Whether no one has changed a field since its person began to type: else the person sees both values, and decides. */
function isAsBefore(fields: Fields, name: string): boolean {
  const kept = draftsOf(FIELDS, fields.document_id).find((each) => each.name === name)
  return kept?.base === textOf(fields, name)
}

/** A field's value as its person would type it. */
function textOf(fields: Fields, name: string): string {
  return typedText(name, fieldOf(fields, name)?.value ?? null)
}
