import type { TFunction } from 'i18next'

import { type CommandId, sectionOf } from './commands'

/** A command in words. */
export function nameOf(id: CommandId, t: TFunction): string {
  const section = sectionOf(id)
  const texts: Record<string, string> = t(`keyboard.commands.${section}`, { returnObjects: true })
  return texts[id.slice(section.length + 1)] ?? id
}
