/** What was typed and is not saved yet, by document and field, in this browser. */

const PREFIX = 'docrail.draft.'

export function keepDraft(documentId: string, field: string, text: string): void {
  try {
    localStorage.setItem(`${PREFIX}${documentId}.${field}`, text)
  } catch {
    // blocked or full: it lasts as long as the page
  }
}

export function dropDraft(documentId: string, field: string): void {
  try {
    localStorage.removeItem(`${PREFIX}${documentId}.${field}`)
  } catch {
    // blocked
  }
}

export function draftsOf(documentId: string): [string, string][] {
  const prefix = `${PREFIX}${documentId}.`
  try {
    const names = Object.keys(localStorage).filter((key) => key.startsWith(prefix))
    return names.map((key) => [key.slice(prefix.length), localStorage.getItem(key) ?? ''])
  } catch {
    return []
  }
}
