/** The server's problems as underlined places of the text. Plain CodeMirror, without React. */
import { type Diagnostic, setDiagnostics } from '@codemirror/lint'
import { EditorSelection, type EditorState, type Text } from '@codemirror/state'
import { EditorView } from '@codemirror/view'

import type { Model } from '@/api/client'

export type Problem = Model<'Problem'>
type Range = { from: number; to: number }

const TOKEN = /^("(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|[^\s,[\]{}:#]+(?:[^\S\n]+[^\s,[\]{}:#]+)*)/
const WORD = /^[\w.-]+$/

/** The text that a problem is about: from its place to the end of the word or quoted text there. */
export function rangeOf(doc: Text, { line, column }: Pick<Problem, 'line' | 'column'>): Range | undefined {
  if (line === null || line > doc.lines) return undefined
  const found = doc.line(line)
  const start = unitsBefore(found.text, column ?? 1)
  const token = TOKEN.exec(found.text.slice(start))?.[0].length ?? 1
  const from = Math.max(found.from, Math.min(found.from + start, found.to - 1))
  return { from, to: Math.min(from + token, found.to) }
}

/** The server counts characters, the editor UTF-16 units. */
function unitsBefore(text: string, column: number): number {
  return [...text].slice(0, column - 1).join('').length
}

/** Underlines the problems. `use` names the button that writes what is likely meant. */
export function underline(view: EditorView, problems: readonly Problem[], use: (suggestion: string) => string): void {
  const found = problems.map((problem): Diagnostic => {
    const range = rangeOf(view.state.doc, problem) ?? { from: 0, to: 0 }
    const { severity, message, suggestion } = problem
    const isWord = WORD.test(view.state.sliceDoc(range.from, range.to))
    if (suggestion === null || !isWord || !WORD.test(suggestion)) return { ...range, severity, message }
    const apply = (target: EditorView, from: number, to: number) =>
      target.dispatch({ changes: { from, to, insert: suggestion } })
    return { ...range, severity, message, actions: [{ name: use(suggestion), apply }] }
  })
  view.dispatch(setDiagnostics(view.state, found))
}

/** Moves the cursor to a problem and into view. */
export function jumpTo(view: EditorView, problem: Problem): void {
  select(view, rangeOf(view.state.doc, problem)?.from ?? 0)
}

/** Moves the cursor to where a step is defined. */
export function jumpToStep(view: EditorView, stepId: string): void {
  const pattern = new RegExp(`\\b(?:id|node_id)["']?\\s*:\\s*["']?${stepId}\\b`)
  const found = pattern.exec(view.state.doc.toString())
  if (found) select(view, found.index)
}

function select(view: EditorView, at: number): void {
  view.dispatch({ selection: EditorSelection.cursor(at), effects: EditorView.scrollIntoView(at, { y: 'center' }) })
  view.focus()
}

/** The next problem after the cursor, or before it; from the end it goes on at the other one. */
export function nextProblem(state: EditorState, problems: readonly Problem[], by: 1 | -1): Problem | undefined {
  const at = state.doc.lineAt(state.selection.main.head)
  const here: Place = [at.number, [...at.text.slice(0, state.selection.main.head - at.from)].length + 1]
  const sorted = problems.toSorted((a, b) => by * compare(placeOf(a), placeOf(b)))
  return sorted.find((problem) => by * compare(placeOf(problem), here) > 0) ?? sorted[0]
}

type Place = readonly [line: number, column: number]

function placeOf({ line, column }: Problem): Place {
  return [line ?? 1, column ?? 1]
}

function compare(a: Place, b: Place): number {
  return a[0] - b[0] || a[1] - b[1]
}
