import { ActionIcon, Button, Group, Text, Tooltip } from '@mantine/core'
import { IconCheck, IconPlus, IconTrash, IconX } from '@tabler/icons-react'
import { type ClipboardEvent, type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { api, type Model, read } from '@/api/client'
import { asProblem, type Problem } from '@/api/problem'
import { money } from '@/format/numbers'
import { visible } from '@/format/text'
import { problemText } from '@/kit/problem_text'

import { fieldOf, type Fields, type Line } from './model'
import classes from './review.module.css'
import { typedAmount } from './typing'
import type { Saving } from './use_saving'
import { nameOf } from './words'

type Edit = Model<'LinesOrder'>['edits'][number]
type Column = (typeof COLUMNS)[number]

const COLUMNS = ['description', 'quantity', 'unit_price', 'amount', 'tax_rate'] as const

type Props = {
  fields: Fields
  readOnly: boolean
  inTurn: Saving['inTurn']
  onSaved: (fields: Fields) => void
  onPlace: (line: Line) => void
}

type Trouble = { cell: string; problem: Problem; text: string }

/** The line items as a grid: cells are saved when they are left, rows of a spreadsheet can be pasted. */
export function LineGrid({ fields, readOnly, inTurn, onSaved, onPlace }: Props) {
  const { t } = useTranslation()
  const grid = useRef<HTMLTableElement>(null)
  const latest = useRef(fields)
  useLayoutEffect(() => {
    latest.current = fields
  }, [fields])
  const [typed, setTyped] = useState<Record<string, string>>({})
  const [trouble, setTrouble] = useState<Trouble>()
  const lines = fields.line_items

  const edit = async (edits: Edit[], cell: string, text: string): Promise<boolean> => {
    try {
      const saved = await inTurn((token) => {
        const path = { document_id: fields.document_id }
        const body = { edits, base: latest.current.lines_version, token, why: '' }
        return read(api.POST('/v1/documents/{document_id}/line-items', { params: { path }, body })).then((answer) => {
          latest.current = answer
          return answer
        })
      })
      setTyped((before) => without(before, cell))
      setTrouble(undefined)
      onSaved(saved)
      return true
    } catch (error) {
      setTrouble({ cell, problem: asProblem(error), text })
      return false
    }
  }
  const leave = (row: number, column: Column, text = typed[cellOf(row, column)]) => {
    const cell = cellOf(row, column)
    const line = lines[row]
    if (text === undefined || readOnly || !line) return
    if (text === shown(line, column)) {
      setTyped((before) => without(before, cell))
      return
    }
    void edit([{ do: 'set', row, column, text }], cell, text)
  }
  const focus = (row: number, column: Column) => {
    requestAnimationFrame(() =>
      grid.current?.querySelector<HTMLElement>(`[data-cell="${cellOf(row, column)}"]`)?.focus(),
    )
  }
  const insert = async (row: number) => {
    if (await edit([{ do: 'insert', row }], cellOf(row, 'description'), '')) focus(row, 'description')
  }
  const remove = (row: number) => void edit([{ do: 'delete', row, count: 1 }], cellOf(row, 'description'), '')
  const paste = (event: ClipboardEvent, row: number, column: Column) => {
    const text = event.clipboardData.getData('text/plain')
    if (readOnly || !/[\t\n]/.test(text.trimEnd())) return
    event.preventDefault()
    setTyped((before) => without(before, cellOf(row, column)))
    void edit([{ do: 'paste', row, column, text }], cellOf(row, column), text)
  }
  const onKey = (event: KeyboardEvent, row: number, column: Column) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Enter' && row === lines.length - 1 && !readOnly) {
      leave(row, column)
      void insert(lines.length)
    } else if (event.key === 'Enter' || event.key === 'ArrowDown') focus(row + 1, column)
    else if (event.key === 'ArrowUp') focus(row - 1, column)
    else if (event.key === 'Escape' && typed[cellOf(row, column)] !== undefined) {
      setTyped((before) => without(before, cellOf(row, column)))
    } else return
    event.preventDefault()
  }

  return (
    <div className={classes.lines}>
      <div className={classes.linesScroll}>
        <table ref={grid} className={classes.grid} aria-label={nameOf('fields', 'line_items', t)}>
          <thead>
            <tr>
              {COLUMNS.map((column) => (
                <th key={column} scope="col" data-column={column}>
                  {nameOf('columns', column, t)}
                </th>
              ))}
              <th scope="col">
                <span className={classes.hidden}>{t('review.deleteLine')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line, row) => (
              // oxlint-disable-next-line react/no-array-index-key -- a line has no identity but its row
              <tr key={row} onFocus={() => onPlace(line)}>
                {COLUMNS.map((column) => {
                  const cell = cellOf(row, column)
                  return (
                    <td key={column} data-column={column}>
                      <input
                        data-cell={cell}
                        aria-label={t('review.cell', { row: row + 1, column: nameOf('columns', column, t) })}
                        aria-invalid={trouble?.cell === cell}
                        value={typed[cell] ?? visible(shown(line, column))}
                        readOnly={readOnly}
                        spellCheck={false}
                        autoComplete="off"
                        onChange={(event) => setTyped({ ...typed, [cell]: event.currentTarget.value })}
                        onBlur={() => leave(row, column)}
                        onPaste={(event) => paste(event, row, column)}
                        onKeyDown={(event) => onKey(event, row, column)}
                      />
                    </td>
                  )
                })}
                <td>
                  {!readOnly && (
                    <ActionIcon
                      size="sm"
                      className={classes.deleteLine}
                      aria-label={t('review.deleteLineNumber', { row: row + 1 })}
                      onClick={() => remove(row)}
                    >
                      <IconTrash size={14} stroke={1.7} />
                    </ActionIcon>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {trouble && (
        <TroubleOfCell
          trouble={trouble}
          onChoose={(value) => {
            const [row, column] = trouble.cell.split(':')
            void edit(
              [{ do: 'set', row: Number(row), column: column as Column, text: typedAmount(value) }],
              trouble.cell,
              value,
            )
          }}
        />
      )}
      <Group justify="space-between" gap="xs" mt={4}>
        {readOnly ? (
          <span />
        ) : (
          <Tooltip label={t('review.pasteHint')}>
            <Button
              variant="subtle"
              color="gray"
              size="compact-xs"
              leftSection={<IconPlus size={13} />}
              onClick={() => void insert(lines.length)}
              onPaste={(event) => paste(event, lines.length, 'description')}
            >
              {t('review.addLine')}
            </Button>
          </Tooltip>
        )}
        <Sum fields={fields} />
      </Group>
    </div>
  )
}

/** Why a cell was not saved; with two readings, the choice between them. */
function TroubleOfCell({ trouble, onChoose }: { trouble: Trouble; onChoose: (value: string) => void }) {
  const { t } = useTranslation()
  const { problem } = trouble
  const [first] = (problem.body.problems ?? []) as { message?: string }[]
  if (problem.kind === 'ambiguous-value') {
    return (
      <Group gap={6} mt={4} role="alert">
        <Text size="xs" c="orange">
          {t('review.twoReadings', { text: trouble.text })}
        </Text>
        {(problem.body.readings ?? []).map((value) => (
          <Button key={value} size="compact-xs" variant="default" onClick={() => onChoose(value)}>
            {typedAmount(value)}
          </Button>
        ))}
      </Group>
    )
  }
  return (
    <Text size="xs" c="red" mt={4} role="alert">
      {first?.message ? visible(first.message) : problemText(problem, t).detail}
    </Text>
  )
}

/** The sum of the lines, compared with the net amount of the document. */
function Sum({ fields }: { fields: Fields }) {
  const { t } = useTranslation()
  const currency = fieldOf(fields, 'currency')?.value
  const isWrong = fields.problems.some((problem) => problem.code === 'lines_disagree')
  if (fields.lines_total === null) return null
  const Symbol = isWrong ? IconX : IconCheck
  return (
    <Group gap={6} c={isWrong ? 'red' : 'dimmed'} data-testid="lines-sum">
      <Text size="xs" className="numbers">
        {t('review.sum', { sum: money(fields.lines_total, currency) })}
      </Text>
      <Symbol size={14} stroke={2} aria-hidden />
      <Text size="xs">{t(isWrong ? 'review.sumDiffers' : 'review.sumAgrees')}</Text>
    </Group>
  )
}

function shown(line: Line, column: Column): string {
  const value = line[column]
  if (value === null || value === undefined) return ''
  return column === 'description' ? String(value) : typedAmount(String(value))
}

function without(cells: Record<string, string>, cell: string): Record<string, string> {
  return Object.fromEntries(Object.entries(cells).filter(([name]) => name !== cell))
}

function cellOf(row: number, column: Column): string {
  return `${row}:${column}`
}
