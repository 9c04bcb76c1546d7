/** Signing in and out. */
import { queryOptions } from '@tanstack/react-query'

import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'
import { meQuery } from '@/api/me'
import { queryClient } from '@/api/queries'
import { signedIn } from '@/api/signed_in'
import { basePath } from '@/app/base'

/** How people may sign in here. */
export const methodsQuery = queryOptions({
  queryKey: keys.signInMethods,
  queryFn: () => read(api.GET('/v1/session/methods')),
  staleTime: Infinity,
})

/** Opens a session. If someone else was signed in before, the page starts anew: nothing of theirs is shown. */
export async function signIn(key: string): Promise<void> {
  const me = await read(api.POST('/v1/session', { body: { key } }))
  const before = queryClient.getQueryData<Model<'Me'>>(meQuery.queryKey)
  if (before && (before.name !== me.name || before.tenant !== me.tenant)) {
    location.reload()
    return
  }
  queryClient.setQueryData(meQuery.queryKey, me)
  signedIn()
}

const signOutListeners = new Set<() => void>()

/** Runs before the page is left by signing out, for what must not stay in this browser. */
export function onSignOut(forget: () => void): void {
  signOutListeners.add(forget)
}

/** Ends the session and starts the page anew, so that nothing of the person stays in memory. */
export async function signOut(): Promise<void> {
  await read(api.DELETE('/v1/session'))
  signOutListeners.forEach((forget) => forget())
  location.assign(`${basePath}/`)
}

/** Most that the API takes as the page to come back to. */
const LONGEST_PAGE = 500

/** The address that signs in at the identity provider and comes back to this page. */
export function providerUrl(): string {
  const whole = location.pathname + location.search
  const page = whole.length > LONGEST_PAGE ? location.pathname : whole
  return `${basePath}/v1/session/oidc?next=${encodeURIComponent(page)}`
}
