/** The zone in which times are shown: this machine's, or UTC. */
import { oneOf, preference } from '@/app/preferences'

export const localZone: string = Intl.DateTimeFormat().resolvedOptions().timeZone

/** `local` or `utc`. */
export const zoneChoice = preference('zone', oneOf('local', 'utc'))

export function zoneName(choice: 'local' | 'utc' = zoneChoice.get()): string {
  return choice === 'utc' ? 'UTC' : localZone
}
