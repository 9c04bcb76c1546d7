import { useLayoutEffect, useRef } from 'react'

/** Keeps the current link of a row of tabs in sight where not all have room. */
export function useCurrentInView<Element extends HTMLElement>(current: string) {
  const row = useRef<Element>(null)
  useLayoutEffect(() => {
    const link = current === '' ? null : row.current?.querySelector('[aria-current]')
    if (row.current === null || !link) return
    // Not scrollIntoView: the Tab key would go on from the link instead of from the page's beginning.
    const [visible, wanted] = [row.current.getBoundingClientRect(), link.getBoundingClientRect()]
    row.current.scrollLeft += Math.max(0, wanted.right - visible.right) - Math.max(0, visible.left - wanted.left)
  }, [current])
  return row
}
