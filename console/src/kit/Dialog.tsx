import { Modal, type ModalProps } from '@mantine/core'
import { useLayoutEffect, useRef } from 'react'

/** A dialog that is open as long as it is mounted. No key pressed after the one that opened it reaches the page below. */
export function Dialog({ children, ...props }: Omit<ModalProps, 'opened'>) {
  return (
    <Modal opened {...props}>
      <Focus />
      {children}
    </Modal>
  )
}

/**
 * Moves the focus into the dialog in the same task that draws it, and back when the dialog is gone. Mantine does the first
 * in a timer, which comes after the next key of someone who types fast, and the second only for dialogs that stay mounted.
 */
function Focus() {
  const place = useRef<HTMLSpanElement>(null)
  useLayoutEffect(() => {
    const before = document.activeElement
    const dialog = place.current?.closest<HTMLElement>('[role="dialog"]')
    ;(dialog?.querySelector<HTMLElement>('[data-autofocus]') ?? dialog)?.focus({ preventScroll: true })
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
    }
  }, [])
  return <span ref={place} hidden />
}
