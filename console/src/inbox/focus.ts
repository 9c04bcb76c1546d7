/** The element of a row, and the focus of the list. */

export function rowId(documentId: string): string {
  return `row-${documentId}`
}

/** Gives the list the focus, so that its keys work and a screen reader reads the active row. */
export function focusRows(): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>('[data-inbox-rows]')?.focus({ preventScroll: true }))
}
