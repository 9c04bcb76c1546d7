import { useEffect, useState } from 'react'

const STEP_MS = 30_000

/** The time now, in milliseconds, renewed as often as relative times need it. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), STEP_MS)
    return () => clearInterval(timer)
  }, [])
  return now
}
