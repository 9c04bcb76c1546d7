/** Notices that the server has a newer console than this page. */
import { basePath } from './base'
import { signal } from './signal'

/** Whether the server has another build than this page's. */
export const newVersion = signal(false)

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

/**
 * Looks for a newer version when a tab is shown again, and when a chunk of this page is gone, as after an upgrade. The
 * router reloads once if it is the chunk of a page that was opened; whatever else fails has a button to reload.
 */
export function watchVersion(): void {
  addEventListener('vite:preloadError', () => void checkVersion())
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void checkVersion()
  })
}

function entryOf(html: string): string {
  return /assets\/index-[\w-]+\.js/.exec(html)?.[0] ?? ''
}
