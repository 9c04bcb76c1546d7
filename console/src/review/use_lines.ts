/**
 * What is being typed into the line items of one document, and its way to the server: a cell is saved when it is left, and
 * again until the server answers. What is not saved yet is kept, also when the page is reloaded.
 */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

import { api, type Model, read } from '@/api/client'
import { asProblem, type Problem, UNREACHABLE } from '@/api/problem'
import { visible } from '@/format/text'

import { CELLS, draftsOf, dropDraft, keepDraft } from './kept'
import type { Fields, Line } from './model'
import { typedAmount } from './typing'
import { AGAIN_MS, type Saving } from './use_saving'

export const COLUMNS = ['description', 'quantity', 'unit_price', 'amount', 'tax_rate'] as const
export type Column = (typeof COLUMNS)[number]
export type Edit = Model<'LinesOrder'>['edits'][number]

/** Why a cell was not saved. */
export type CellTrouble = { cell: string; problem: Problem; text: string }

type Typed = Readonly<Record<string, string>>

export type Lines = {
  /** What is typed and not saved yet, by cell. */
  typed: Typed
  trouble: CellTrouble | undefined
  type: (row: number, column: Column, text: string) => void
  forget: (cell: string) => void
  /** Saves a cell that is left: what is typed, or a given text. Resolves to whether nothing of it is unsaved. */
  leave: (row: number, column: Column, text?: string) => Promise<boolean>
  /** Changes rows. Resolves to whether it is saved; a trouble is shown as that of the cell. */
  edit: (edits: Edit[], cell: string, text: string) => Promise<boolean>
  /** Saves all that is typed; resolves to whether it is saved. */
  flush: () => Promise<boolean>
}

type Asked = { fields: Fields; inTurn: Saving['inTurn']; onSaved: (fields: Fields) => void }

export function useLines({ fields, inTurn, onSaved }: Asked): Lines {
  const documentId = fields.document_id
  const latest = useRef(fields)
  useLayoutEffect(() => {
    latest.current = fields
  }, [fields])
  const [typed, setTyped] = useState<Typed>(() => restored(fields))
  const now = useRef(typed)
  const [trouble, setTrouble] = useState<CellTrouble>()
  const sending = useRef(new Map<string, Promise<boolean>>())

  const put = useCallback((cells: Typed) => {
    now.current = cells
    setTyped(cells)
  }, [])
  const type = useCallback(
    (row: number, column: Column, text: string) => {
      const line = latest.current.line_items[row]
      keepDraft(CELLS, documentId, cellOf(row, column), text, line ? shown(line, column) : null)
      put({ ...now.current, [cellOf(row, column)]: text })
    },
    [documentId, put],
  )
  const forget = useCallback(
    (cell: string) => {
      dropDraft(CELLS, documentId, cell)
      put(Object.fromEntries(Object.entries(now.current).filter(([name]) => name !== cell)))
    },
    [documentId, put],
  )
  const edit = useCallback(
    async (edits: Edit[], cell: string, text: string): Promise<boolean> => {
      try {
        const saved = await inTurn(async (token) => {
          const path = { document_id: documentId }
          const body = { edits, base: latest.current.lines_version, token, why: '' }
          latest.current = await read(api.POST('/v1/documents/{document_id}/line-items', { params: { path }, body }))
          return latest.current
        })
        const isTypedOn = now.current[cell] !== undefined && now.current[cell] !== text
        if (!isTypedOn) forget(cell)
        setTrouble(undefined)
        onSaved(saved)
        return true
      } catch (error) {
        setTrouble({ cell, problem: asProblem(error), text })
        return false
      }
    },
    [documentId, forget, inTurn, onSaved],
  )
  const leave = useCallback(
    async (row: number, column: Column, text = now.current[cellOf(row, column)]): Promise<boolean> => {
      const cell = cellOf(row, column)
      const line = latest.current.line_items[row]
      if (text === undefined) return true
      if (!line || text === shown(line, column)) {
        forget(cell)
        return true
      }
      const key = JSON.stringify([cell, text])
      const running =
        sending.current.get(key) ??
        edit([{ do: 'set', row, column, text }], cell, text).finally(() => sending.current.delete(key))
      sending.current.set(key, running)
      return running
    },
    [edit, forget],
  )
  const flush = useCallback(async () => {
    for (const cell of Object.keys(now.current)) {
      if (!(await leave(...placeOf(cell)))) return false
    }
    return true
  }, [leave])

  const waits = trouble !== undefined && isForLater(trouble.problem)
  useEffect(() => {
    if (!waits) return
    const timer = setInterval(() => void flush(), AGAIN_MS)
    return () => clearInterval(timer)
  }, [waits, flush])

  return { typed, trouble, type, forget, leave, edit, flush }
}

/** Whether the server may take it later: it did not answer, or could not. */
export function isForLater({ kind, status }: Problem): boolean {
  return kind === UNREACHABLE || status >= 500
}

/** A cell as its person would type it. */
export function shown(line: Line, column: Column): string {
  const value = line[column]
  if (value === null || value === undefined) return ''
  return column === 'description' ? visible(String(value)) : typedAmount(String(value))
}

export function cellOf(row: number, column: Column): string {
  return `${row}:${column}`
}

export function placeOf(cell: string): [row: number, column: Column] {
  const [row, column] = cell.split(':')
  return [Number(row), column as Column]
}

/** What was typed before a reload, into cells that are still as they were: a row has no identity but its number. */
function restored(fields: Fields): Typed {
  const kept = draftsOf(CELLS, fields.document_id).filter(({ name, base }) => {
    const [row, column] = placeOf(name)
    const line = fields.line_items[row]
    return line !== undefined && shown(line, column) === base
  })
  return Object.fromEntries(kept.map(({ name, text }) => [name, text]))
}
