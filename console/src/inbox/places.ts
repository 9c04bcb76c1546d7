/** Where a person was in each view of the inbox, so that coming back shows the same row at the same place. */
import type { Current } from '@/keyboard/current_row'

export type Place = { active: Current | undefined; offset: number }

const KEY = 'docrail.inbox-places'
const MOST = 20

const places = new Map<string, Place>(stored())

export function placeIn(view: string): Place | undefined {
  return places.get(view)
}

export function keepPlace(view: string, place: Place): void {
  places.delete(view)
  places.set(view, place)
  for (const oldest of places.keys()) {
    if (places.size <= MOST) break
    places.delete(oldest)
  }
  try {
    sessionStorage.setItem(KEY, JSON.stringify([...places]))
  } catch {
    // blocked or full: the places last as long as the page
  }
}

function stored(): [string, Place][] {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '[]')
    return Array.isArray(found) ? (found as [string, Place][]) : []
  } catch {
    return []
  }
}
