/** The element of a row, and the focus of the list. */

export function rowId(documentId: string): string {
  return `row-${documentId}`
}

let isWanted = false

/** Gives the list the focus, at the latest when it is there, so that its keys work and a screen reader reads the active row. */
export function focusRows(): void {
  isWanted = true
  requestAnimationFrame(focusWanted)
}

/** Gives the list the focus if it should have it; not if the person has gone elsewhere meanwhile. */
export function focusWanted(): void {
  const rows = document.querySelector<HTMLElement>('[data-inbox-rows]')
  if (!rows || !isWanted) return
  isWanted = false
  rows.focus({ preventScroll: true })
}

/** The person has gone elsewhere. */
export function forgetFocus(): void {
  isWanted = false
}
