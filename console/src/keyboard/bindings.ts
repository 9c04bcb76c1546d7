/** Which keys run a command: the usual ones, or those that the person has chosen. */
import { preference } from '@/app/preferences'

import { COMMANDS, type CommandId, commandOf, SECTIONS, commandsOf, sectionOf } from './commands'
import { isSingle } from './keys'

export type Bindings = {
  /** The commands whose keys were changed. */
  changed: Partial<Record<CommandId, string[]>>
  /** Whether single characters run commands. */
  singleKeys: boolean
}

export const bindings = preference<Bindings>('keys', readBindings)

export function readBindings(stored: unknown): Bindings {
  const found = (typeof stored === 'object' && stored !== null ? stored : {}) as Partial<Bindings>
  const changed = Object.entries(found.changed ?? {}).filter(
    ([id, keys]) => id in COMMANDS && Array.isArray(keys) && keys.every((key) => typeof key === 'string'),
  )
  return { changed: Object.fromEntries(changed), singleKeys: found.singleKeys ?? true }
}

/** The keys of a command that work now. */
export function keysOf(id: CommandId, { changed, singleKeys }: Bindings = bindings.get()): readonly string[] {
  const keys = changed[id] ?? commandOf(id).keys
  return singleKeys ? keys : keys.filter((key) => !isSingle(key))
}

/** The command that already has a key: of the same section, or of the general one, which is always active. */
export function holderOf(key: string, id: CommandId, chosen: Bindings = bindings.get()): CommandId | undefined {
  const section = sectionOf(id)
  const rivals = SECTIONS.filter((each) => each === section || each === 'general' || section === 'general')
  return rivals
    .flatMap(commandsOf)
    .find((each) => each !== id && keysOf(each, { ...chosen, singleKeys: true }).includes(key))
}

/** The bindings with one command's keys changed; without keys, back to the usual ones. */
export function withKeys(chosen: Bindings, id: CommandId, keys: string[] | undefined): Bindings {
  const { [id]: _, ...others } = chosen.changed
  return { ...chosen, changed: keys ? { ...others, [id]: keys } : others }
}
