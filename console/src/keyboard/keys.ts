/** Keys as text, and what they mean where the focus is. Plain functions, without state. */

/** What this module reads of a KeyboardEvent. */
export type Pressed = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>

const MODIFIERS = new Set([
  'Control',
  'Shift',
  'Alt',
  'Meta',
  'AltGraph',
  'CapsLock',
  'Dead',
  'Process',
  'Unidentified',
])
const TEXT_INPUTS = /^(text|search|url|tel|email|password|number|date|month|week|time|datetime-local)$/
const ACTIVATED =
  'button, a[href], summary, select, input, [role=button], [role=link], [role=checkbox], [role=tab], [role^=menuitem], [role=option]'

/** The key that was pressed, as commands write it; undefined for a lone modifier and for Alt, which types characters. */
export function keyOf(event: Pressed): string | undefined {
  if (MODIFIERS.has(event.key) || event.altKey) return undefined
  const key = inLatin(event)
  const letter = /^[a-z]$/i.test(key)
  const shift = event.shiftKey && (letter || key.length > 1) ? 'Shift+' : ''
  const control = event.ctrlKey || event.metaKey ? 'Ctrl+' : ''
  return control + shift + (letter ? (shift ? key.toUpperCase() : key.toLowerCase()) : key)
}

/** On a keyboard without Latin letters a letter's place counts: `Ctrl+K` is the key that is K elsewhere. */
function inLatin(event: Pressed): string {
  const isForeign = event.key.length === 1 && event.key > '\u024f'
  return isForeign && event.code.startsWith('Key') ? event.code.slice(3) : event.key
}

/** Whether a key is a single character, which a person may have switched off (WCAG 2.1.4). */
export function isSingle(key: string): boolean {
  return !key.startsWith('Ctrl+') && key.replace('Shift+', '').length === 1
}

/** Whether typing goes into the element. */
export function isTextField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target.closest('.cm-editor') || target instanceof HTMLTextAreaElement) return true
  return target instanceof HTMLInputElement && TEXT_INPUTS.test(target.type)
}

/** Whether the element itself answers Enter and Space, as a button does. */
export function isActivated(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest(ACTIVATED) !== null
}

/** How a key is shown on an English keyboard: `⌘ K` on a Mac, `Ctrl + K` elsewhere, arrows as arrows. */
export function shownParts(key: string, isMac: boolean): string[] {
  const parts = key === '+' ? ['+'] : key.split('+')
  return parts.map((part) => (part === 'Ctrl' ? (isMac ? '⌘' : 'Ctrl') : (SHOWN[part] ?? part.toUpperCase())))
}

const SHOWN: Record<string, string> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  ArrowLeft: '←',
  ArrowRight: '→',
  Enter: 'Enter',
  Escape: 'Esc',
  Tab: 'Tab',
  PageDown: 'PgDn',
  PageUp: 'PgUp',
  Home: 'Home',
  End: 'End',
  Shift: 'Shift',
  ' ': 'Space',
}
