/** Notices that the server has a newer console than this page, and loads it where this page cannot go on without. */
import { basePath } from './base'
import { signal } from './signal'

/** Whether the server has another build than this page's. */
export const newVersion = signal(false)

const RELOADED = 'docrail.reloaded-for'
const OWN_BUILD = entryOf(document.documentElement.outerHTML)

/** Compares this page's build with the server's. Called when the stream of events is back and when a tab is shown. */
export async function checkVersion(): Promise<void> {
  if (newVersion.get() || import.meta.env.DEV) return
  try {
    const answer = await fetch(`${basePath}/`, { headers: { accept: 'text/html' }, cache: 'no-store' })
    if (!answer.ok) return
    const found = entryOf(await answer.text())
    if (found && found !== OWN_BUILD) newVersion.set(true)
  } catch {
    // the server does not answer: nothing is known about its version
  }
}

/** After an upgrade the old page's chunks are gone. Reload once; a second time would not help. */
export function reloadOnMissingChunk(): void {
  addEventListener('vite:preloadError', (event) => {
    if (sessionStorage.getItem(RELOADED) === OWN_BUILD) return
    sessionStorage.setItem(RELOADED, OWN_BUILD)
    event.preventDefault()
    location.reload()
  })
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void checkVersion()
  })
}

function entryOf(html: string): string {
  return /assets\/index-[\w-]+\.js/.exec(html)?.[0] ?? ''
}
