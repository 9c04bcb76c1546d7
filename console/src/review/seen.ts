/**
 * Guards decisions: a document is decided only after it was painted, and with a key that was pressed for it. With 100 ms
 * to the next document, a key that is still held would decide that one unseen.
 */

export type Guard = {
  /** A page, or the note that there is none, is on the screen. */
  painted: () => void
  /** Whether a decision may be taken now. */
  mayDecide: () => boolean
  /** Stops listening. */
  end: () => void
}

const held = new Set<string>()

if (typeof addEventListener === 'function') {
  addEventListener('keydown', (event) => held.add(event.code), true)
  addEventListener('keyup', (event) => held.delete(event.code), true)
  addEventListener('blur', () => held.clear())
}

/** Starts to guard a document that is shown from now on. */
export function guard(target: EventTarget = globalThis): Guard {
  let isPainted = false
  let isReleased = !held.has('Enter') && !held.has('NumpadEnter')
  const release = (event: Event) => {
    const { code } = event as KeyboardEvent
    if (code === 'Enter' || code === 'NumpadEnter') isReleased = true
  }
  target.addEventListener('keyup', release, true)
  return {
    painted: () => {
      isPainted = true
    },
    mayDecide: () => isPainted && isReleased,
    end: () => target.removeEventListener('keyup', release, true),
  }
}
