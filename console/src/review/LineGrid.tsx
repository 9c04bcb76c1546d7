import { ActionIcon, Button, Group, Text, Tooltip } from '@mantine/core'
import { IconCheck, IconPlus, IconTrash, IconX } from '@tabler/icons-react'
import { type ClipboardEvent, type KeyboardEvent, useLayoutEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'

import { money } from '@/format/numbers'

import { fieldOf, type Fields, type Line } from './model'
import { Refused } from './Refused'
import classes from './review.module.css'
import { typedAmount } from './typing'
import { cellOf, type CellTrouble, type Column, COLUMNS, isForLater, type Lines, placeOf, shown } from './use_lines'
import { nameOf } from './words'

type Props = {
  fields: Fields
  lines: Lines
  readOnly: boolean
  onPlace: (line: Line) => void
}

/** The line items as a grid: cells are saved when they are left, rows of a spreadsheet can be pasted. */
export function LineGrid({ fields, lines, readOnly, onPlace }: Props) {
  const { t } = useTranslation()
  const grid = useRef<HTMLTableElement>(null)
  const { typed, trouble, edit } = lines
  const rows = fields.line_items

  /** The first cell of a row that is being added: it gets the focus once the row is on the page. */
  const added = useRef<string>(undefined)

  const inputOf = (cell: string) => grid.current?.querySelector<HTMLElement>(`[data-cell="${cell}"]`)
  const focus = (row: number, column: Column) => {
    requestAnimationFrame(() => inputOf(cellOf(row, column))?.focus())
  }
  const insert = async (row: number) => {
    const cell = cellOf(row, 'description')
    added.current = cell
    if (!(await edit([{ do: 'insert', row }], cell, ''))) added.current = undefined
  }
  useLayoutEffect(() => {
    const input = added.current === undefined ? undefined : inputOf(added.current)
    if (!input) return
    added.current = undefined
    input.focus()
  })
  const remove = (row: number) => void edit([{ do: 'delete', row, count: 1 }], cellOf(row, 'description'), '')
  const paste = (event: ClipboardEvent, row: number, column: Column) => {
    const text = event.clipboardData.getData('text/plain')
    if (readOnly || !/[\t\n]/.test(text.trimEnd())) return
    event.preventDefault()
    lines.forget(cellOf(row, column))
    void edit([{ do: 'paste', row, column, text }], cellOf(row, column), text)
  }
  const onKey = (event: KeyboardEvent, row: number, column: Column) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Enter' && row === rows.length - 1 && !readOnly) {
      void lines.leave(row, column)
      void insert(rows.length)
    } else if (event.key === 'Enter' || event.key === 'ArrowDown') focus(row + 1, column)
    else if (event.key === 'ArrowUp') focus(row - 1, column)
    else if (event.key === 'Escape' && typed[cellOf(row, column)] !== undefined) {
      lines.forget(cellOf(row, column))
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
            {rows.map((line, row) => (
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
                        value={typed[cell] ?? shown(line, column)}
                        readOnly={readOnly}
                        spellCheck={false}
                        autoComplete="off"
                        onChange={(event) => lines.type(row, column, event.currentTarget.value)}
                        onBlur={() => void (readOnly || lines.leave(row, column))}
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
            const [row, column] = placeOf(trouble.cell)
            lines.type(row, column, typedAmount(value))
            void lines.leave(row, column)
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
              onClick={() => void insert(rows.length)}
              onPaste={(event) => paste(event, rows.length, 'description')}
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
function TroubleOfCell({ trouble, onChoose }: { trouble: CellTrouble; onChoose: (value: string) => void }) {
  const { t } = useTranslation()
  const { problem } = trouble
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
  if (isForLater(problem)) {
    return (
      <Text size="xs" c="orange" mt={4} role="status">
        {t('review.waits')}
      </Text>
    )
  }
  return <Refused problem={problem} mt={4} />
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
