/** What is typed into the fields of a document and not saved yet: kept in the outbox, and sent by this screen itself. */
import { drafts } from '@/drafts/drafts'

const KIND = 'review:'

export function keepDraft(documentId: string, field: string, text: string): void {
  drafts().keep({ document: documentId, field: KIND + field }, text, null)
}

export function dropDraft(documentId: string, field: string): void {
  drafts().drop({ document: documentId, field: KIND + field })
}

export function draftsOf(documentId: string): [string, string][] {
  const kept = drafts().list(documentId)
  const own = kept.filter((draft) => draft.field.startsWith(KIND) && typeof draft.value === 'string')
  return own.map((draft) => [draft.field.slice(KIND.length), draft.value as string])
}
