/** What is typed into a document and not saved yet: kept in the outbox, and sent by this screen itself. */
import { type Draft, type Place } from '@/drafts/outbox'
import { drafts } from '@/drafts/drafts'

/** What a text is typed into: a field, a cell of the line items, or, of a review item, the reason of a decision. */
type Kind = 'review:' | 'lines:' | 'why:'

export const FIELDS = 'review:'
export const CELLS = 'lines:'
export const REASONS = 'why:'

/** Keeps a text. `base`: what was there when the person began to type. `isLeft`: it is on its way to the server. */
export function keepDraft(
  kind: Kind,
  documentId: string,
  name: string,
  text: string,
  base: string | null = null,
  isLeft = false,
): void {
  drafts().keep(placeOf(kind, documentId, name), text, base, isLeft)
}

export function dropDraft(kind: Kind, documentId: string, name: string): void {
  drafts().drop(placeOf(kind, documentId, name))
}

type Kept = { name: string; text: string; base: string | null; isLeft: boolean }

export function draftsOf(kind: Kind, documentId: string): Kept[] {
  const isOwn = ({ field, value }: Draft) => field.startsWith(kind) && typeof value === 'string'
  const kept = drafts().list(documentId).filter(isOwn)
  return kept.map(({ field, value, ...rest }) => ({ ...rest, name: field.slice(kind.length), text: value as string }))
}

function placeOf(kind: Kind, documentId: string, name: string): Place {
  return { document: documentId, field: kind + name }
}
