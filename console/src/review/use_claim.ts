/** The claim on the shown item: taken on opening, renewed while someone works, given back on leaving. */
import { useCallback, useEffect, useRef, useState } from 'react'

import { api, read } from '@/api/client'
import { asProblem, isProblem, type Problem } from '@/api/problem'
import { basePath } from '@/app/base'

import { afterPaint } from './after_paint'

const RENEW_MS = 4 * 60_000

export type Claim = {
  /** `idle`: not wanted. `theirs`: another person has it, or this person may not have it. */
  state: 'idle' | 'claiming' | 'mine' | 'theirs'
  until: string | undefined
  problem: Problem | undefined
  /** The token that acts need. Rejects with the problem if there is no claim. */
  token: () => Promise<number>
  /** Claims again, for example after the claim was lost to another tab. */
  again: () => void
  /** Someone else has claimed the item since: this person's claim had ended. */
  lose: () => void
  /** The item is decided or postponed: there is nothing to give back. */
  settled: () => void
}

type Taken = { token: number; until: string }

export function useClaim(id: string, wanted: boolean): Claim {
  const [shown, setShown] = useState<Pick<Claim, 'state' | 'until' | 'problem'>>({
    state: wanted ? 'claiming' : 'idle',
    until: undefined,
    problem: undefined,
  })
  const taking = useRef<Promise<Taken> | undefined>(undefined)
  const isSettled = useRef(false)

  const take = useCallback(() => {
    const asked = read(api.POST('/v1/reviews/{review_id}/claim', { params: { path: { review_id: id } } }))
    const taken = asked.then(({ token, until }) => ({ token, until }))
    taking.current = taken
    isSettled.current = false
    taken.then(
      ({ until }) => taking.current === taken && setShown({ state: 'mine', until, problem: undefined }),
      (error: unknown) =>
        taking.current === taken && setShown({ state: 'theirs', until: undefined, problem: asProblem(error) }),
    )
  }, [id])

  useEffect(() => {
    if (!wanted) return
    const before = taking.current
    // The document is shown first, unless an act has needed the claim already.
    const stop = afterPaint(() => taking.current === before && take())
    const release = () => {
      if (isSettled.current) return
      isSettled.current = true
      void taking.current?.then(({ token }) => giveBack(id, token)).catch(() => undefined)
    }
    addEventListener('pagehide', release)
    return () => {
      stop()
      removeEventListener('pagehide', release)
      release()
    }
  }, [id, wanted, take])

  useEffect(() => {
    if (shown.state !== 'mine') return
    let isActive = false
    const act = () => {
      isActive = true
    }
    const renew = async () => {
      if (!isActive) return
      isActive = false
      const taken = await taking.current
      if (!taken) return
      const body = { token: taken.token }
      const path = { review_id: id }
      const renewed = await read(api.POST('/v1/reviews/{review_id}/renew', { params: { path }, body })).catch(
        (error: unknown) => (isProblem(error, 'claim-lost') ? take() : undefined),
      )
      if (renewed) setShown((before) => ({ ...before, until: renewed.until }))
    }
    const timer = setInterval(() => void renew(), RENEW_MS)
    for (const name of ['keydown', 'pointerdown', 'wheel']) addEventListener(name, act, { passive: true })
    return () => {
      clearInterval(timer)
      for (const name of ['keydown', 'pointerdown', 'wheel']) removeEventListener(name, act)
    }
  }, [id, shown.state, take])

  const token = useCallback(async () => {
    if (!taking.current && wanted) take()
    if (!taking.current) throw asProblem(new Error('not claimed'))
    return (await taking.current).token
  }, [take, wanted])
  const settled = useCallback(() => {
    isSettled.current = true
  }, [])
  const again = useCallback(() => {
    setShown({ state: 'claiming', until: undefined, problem: undefined })
    take()
  }, [take])
  const lose = useCallback(() => {
    isSettled.current = true
    setShown({ state: 'theirs', until: undefined, problem: undefined })
  }, [])
  return { ...shown, token, again, lose, settled }
}

/** Gives a claim back, also while the page goes away. What is lost ends with its lease. */
function giveBack(id: string, token: number): Promise<unknown> {
  return fetch(`${basePath}/v1/reviews/${id}/release`, {
    method: 'POST',
    keepalive: true,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  })
}
