/**
 * Requests whose session has ended wait until the person has signed in again, and are then sent once more. So nothing
 * behind the sign-in dialog is lost, and no caller has to know of it.
 */
import { signal } from '@/app/signal'

/** Whether requests wait for the person to sign in. The shell shows the dialog while it is true. */
export const signInNeeded = signal(false)

const UNAUTHORIZED = 401
const SESSION = /\/v1\/session$/
let waiting: PromiseWithResolvers<void> | undefined

export async function fetchSignedIn(request: Request): Promise<Response> {
  const again = request.clone()
  const response = await fetch(request)
  if (response.status !== UNAUTHORIZED || SESSION.test(new URL(request.url).pathname)) return response
  await signInAgain()
  return fetchSignedIn(again)
}

/** Resolves when the person has signed in. */
export function signInAgain(): Promise<void> {
  waiting ??= Promise.withResolvers()
  signInNeeded.set(true)
  return waiting.promise
}

/** Called by the sign-in form: the waiting requests are sent again. */
export function signedIn(): void {
  signInNeeded.set(false)
  waiting?.resolve()
  waiting = undefined
}
