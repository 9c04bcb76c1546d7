/** What the review page reads of the API, and how its fields are grouped. Plain functions. */
import type { Model } from '@/api/client'

import type { loadView } from './queries'
import type { Entry } from './use_saving'

export type View = Awaited<ReturnType<typeof loadView>>
export type Fields = View['fields']
export type Field = Fields['fields'][number]
export type Line = Fields['line_items'][number]
export type InvoiceProblem = Fields['problems'][number]
export type Box = [number, number, number, number]
export type PlacedWord = { text: string; box: Box }

/** Where a person found a value. */
export type Place = { page: number; box: Box }

export const LINE_ITEMS = 'line_items'

const DOCUMENT_TYPES: readonly Model<'DocumentType'>[] = [
  'invoice',
  'credit_note',
  'receipt',
  'dunning_letter',
  'statement',
  'purchase_order',
  'quote',
  'delivery_note',
  'remittance_advice',
  'contract',
]

/** Below this confidence a required field is a reason for a review (invoices/assessment/priority.py). */
const UNSURE = 0.8
const HIGH = 0.9
const MEDIUM = 0.7

const REQUIRED = ['invoice_number', 'date', 'vendor_name', 'currency', 'total']
const AMOUNTS = new Set(['net', 'tax', 'total'])
const DATES = new Set(['date', 'due_date', 'delivery_date'])

export type Groups = {
  /** Fields that a person should look at, those of problems first. */
  doubts: string[]
  /** The others that every invoice has. */
  sure: string[]
  /** The rest, which is folded. */
  rest: string[]
}

export function groupsOf(fields: Fields): Groups {
  const names = fields.fields.map((field) => field.name)
  const ofProblems = fields.problems
    .map((problem) => problem.field)
    .filter((name): name is string => names.includes(name ?? ''))
  const unsure = fields.fields.filter(isDoubtful).map((field) => field.name)
  const doubts = [...new Set([...ofProblems, ...unsure])]
  const others = names.filter((name) => !doubts.includes(name))
  return {
    doubts,
    sure: others.filter((name) => REQUIRED.includes(name)),
    rest: others.filter((name) => !REQUIRED.includes(name)),
  }
}

export function isDoubtful(field: Field): boolean {
  if (field.lock) return field.proposals.length > 0 && field.value === null
  if (field.value === null) return REQUIRED.includes(field.name)
  return (field.confidence ?? 0) < UNSURE
}

export type Certainty = 'confirmed' | 'high' | 'medium' | 'low' | 'unknown'

/** The confidence in words. Unknown is a state of its own, not a low one. */
export function certaintyOf(field: Field): Certainty {
  if (field.lock) return 'confirmed'
  if (field.value === null || field.confidence === null) return 'unknown'
  if (field.confidence >= HIGH) return 'high'
  return field.confidence >= MEDIUM ? 'medium' : 'low'
}

export function fieldOf(fields: Fields, name: string): Field | undefined {
  return fields.fields.find((field) => field.name === name)
}

export function isAmount(name: string): boolean {
  return AMOUNTS.has(name)
}

export function isDate(name: string): boolean {
  return DATES.has(name)
}

export function isBroken(fields: Fields): boolean {
  return fields.problems.some((problem) => problem.severity === 'error')
}

/** The next field that needs a person after `name`, round and round; undefined if there is no other. */
export function nextDoubt(groups: Groups, name: string | undefined): string | undefined {
  const { doubts } = groups
  const index = name === undefined ? -1 : doubts.indexOf(name)
  return doubts.slice(index + 1).find((each) => each !== name)
}

/** A value that a person can take for a field. */
export type Choice = { value: string; source: string | undefined; place: Place | undefined }

/** The values that other sources give for a field, each once, without the one that it has; of a type, the others too. */
export function otherValues(field: Field): Choice[] {
  const found = new Map<string, Choice>()
  for (const { value, source, page, box } of [...field.candidates, ...field.proposals]) {
    if (value === null || value === field.value || found.has(value)) continue
    found.set(value, { value, source, place: page !== null && box ? { page, box: box as Box } : undefined })
  }
  const types = field.name === 'document_type' ? DOCUMENT_TYPES : []
  const rest = types.filter((value) => value !== field.value && !found.has(value))
  return [...found.values(), ...rest.map((value) => ({ value, source: undefined, place: undefined }))]
}

/** What can be taken for a field: the readings of what is typed, if there are two, or else its other values. */
export function choicesOf(field: Field, entry: Entry | undefined): Choice[] {
  if (entry?.state !== 'asks') return otherValues(field)
  return (entry.readings ?? []).map((value) => ({ value, source: undefined, place: entry.place }))
}

/** Whether this person gave the first of two approvals. */
export function gaveFirst({ review, actions }: View): boolean {
  const isBarred = actions.some(({ name, problem }) => name === 'claim' && problem === 'may-not-decide')
  return review.first_approved_by !== null && isBarred
}

/** How a problem is named among what changed. */
export function changeOf(problem: InvoiceProblem): string {
  return `problem:${problem.code}`
}

/** The names of the fields, and `line_items`, that differ between two states of a document. */
export function changedFields(before: Fields, after: Fields): string[] {
  const old = new Map(before.fields.map((field) => [field.name, field]))
  const changed = after.fields.filter((field) => {
    const was = old.get(field.name)
    return was?.value !== field.value || (was?.lock === null) !== (field.lock === null)
  })
  const lines = before.lines_version === after.lines_version ? [] : [LINE_ITEMS]
  return [...changed.map((field) => field.name), ...lines]
}

/** The problems that were not shown before. */
export function newProblems(before: Fields, after: Fields): InvoiceProblem[] {
  const known = before.problems.map(keyOf)
  return after.problems.filter((problem) => {
    const index = known.indexOf(keyOf(problem))
    if (index >= 0) known.splice(index, 1) // two problems may be equal
    return index < 0
  })
}

function keyOf(problem: InvoiceProblem): string {
  return `${problem.code} ${problem.field ?? ''} ${problem.severity}`
}
