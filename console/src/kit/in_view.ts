import { useLayoutEffect, useRef } from 'react'

/** Keeps the current link of a row of tabs in sight where not all have room. */
export function useCurrentInView<Element extends HTMLElement>(current: string) {
  const row = useRef<Element>(null)
  useLayoutEffect(() => {
    const link = current === '' ? undefined : row.current?.querySelector('[aria-current]')
    link?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [current])
  return row
}
