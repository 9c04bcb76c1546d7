/** The live updates of this tab, and hooks for components. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'

import { useMe } from '@/api/me'
import { fetchSignedIn } from '@/api/signed_in'
import { basePath } from '@/app/base'
import { signal, useSignal } from '@/app/signal'
import { checkVersion } from '@/app/version'
import { openDrafts } from '@/drafts/drafts'
import { onSignOut } from '@/signin/session'

import { follow, type Live, type LiveState, streamOf } from './sharing'
import { staleness } from './stale'

const state = signal<LiveState>('connecting')
const resynced = new Set<() => void>()
const watched = new Map<symbol, string>()
let live: Live | undefined

/** Starts to follow what changes. Returns how to stop: at sign-out. */
export function startLive(client: QueryClient): () => void {
  const stale = staleness(client)
  const mine = (live = follow(streamOf(basePath, fetchSignedIn), {
    onChange: stale.add,
    onResync() {
      stale.all()
      resynced.forEach((listener) => listener())
    },
    onState: state.set,
  }))
  mine.watch(runs())
  return () => {
    mine.close()
    if (live === mine) live = undefined
  }
}

/** Calls `listener` whenever the tab may have missed something: after a reconnection, after it slept, while polling. */
export function onResync(listener: () => void): () => void {
  resynced.add(listener)
  return () => void resynced.delete(listener)
}

/** Follows what changes, as long as the shell is shown, which is for someone who is signed in. */
export function useLive(): void {
  const client = useQueryClient()
  const { name = '', tenant = '' } = useMe() ?? {}
  const outbox = openDrafts({ name, tenant }) // before the pages below are drawn, which read it
  useEffect(() => {
    onSignOut(outbox.clear)
    const catchUp = onResync(() => void checkVersion())
    const stop = startLive(client)
    return () => {
      catchUp()
      stop()
    }
  }, [client, outbox])
}

/** Whether events arrive now. */
export function useLiveState(): LiveState {
  return useSignal(state)
}

/** Reports each change of a step of the run, as long as the component is shown. Other runs report starts and ends. */
export function useWatchedRun(runId: string | undefined): void {
  useEffect(() => {
    if (runId === undefined) return undefined
    const mine = Symbol(runId)
    watched.set(mine, runId)
    live?.watch(runs())
    return () => {
      watched.delete(mine)
      live?.watch(runs())
    }
  }, [runId])
}

function runs(): string[] {
  return [...new Set(watched.values())]
}
