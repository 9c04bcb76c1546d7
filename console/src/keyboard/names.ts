import type { TFunction } from 'i18next'

import en from '@/texts/en.json'

import { type CommandId, sectionOf } from './commands'
import { shownParts } from './keys'

const IS_MAC = /Mac|iP(hone|ad)/.test(navigator.platform)

/** A command in words. */
export function nameOf(id: CommandId, t: TFunction): string {
  const section = sectionOf(id)
  const texts: Record<string, string> = t(`keyboard.commands.${section}`, { returnObjects: true })
  return texts[id.slice(section.length + 1)] ?? id
}

/** The keycaps of a key, as the keyboards of the language have them: `Strg + K`. */
export function capsOf(key: string, t: TFunction): string[] {
  return shownParts(key, IS_MAC).map((part) =>
    part in en.keyboard.caps ? t(`keyboard.caps.${part as keyof typeof en.keyboard.caps}`) : part,
  )
}
