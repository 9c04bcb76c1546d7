/**
 * Every command that has a key, with its usual keys. One table, so that the help page lists all of them, the person can
 * change them, and a test finds two commands of one section with the same key.
 *
 * A key is written as `KeyboardEvent.key`, with `Ctrl+` (Control, or Command on a Mac) and `Shift+` before it. For
 * characters, Shift is part of the character: `?`, not `Shift+/`; for letters it is written: `Shift+A`.
 */

export type Command = {
  keys: readonly string[]
  /** It also works while a text field has the focus, but by a single character, which is typed there. */
  inFields?: boolean
  /** A held key runs it again and again: for moving, never for decisions. */
  repeats?: boolean
}

const move = { repeats: true }
const anywhere = { inFields: true }

export const COMMANDS = {
  'general.search': { keys: ['/'] },
  'general.upload': { keys: ['u'] },
  'general.export': { keys: ['e'] },
  'general.help': { keys: ['?'] },
  'general.palette': { keys: ['Ctrl+k'], ...anywhere },
  'list.next': { keys: ['j', 'ArrowDown'], ...move },
  'list.previous': { keys: ['k', 'ArrowUp'], ...move },
  'list.first': { keys: ['Home'] },
  'list.last': { keys: ['End'] },
  'list.open': { keys: ['Enter'] },
  'list.select': { keys: ['x'] },
  'list.approve': { keys: ['Shift+A'] },
  'list.clear': { keys: ['Escape'] },
  'review.next-field': { keys: ['j', 'ArrowDown'], ...move },
  'review.previous-field': { keys: ['k', 'ArrowUp'], ...move },
  'review.accept': { keys: ['Enter'] },
  'review.approve': { keys: ['Ctrl+Enter'], ...anywhere },
  'review.reject': { keys: ['Ctrl+Shift+Enter'], ...anywhere },
  'review.postpone': { keys: ['p'] },
  'review.why': { keys: ['w'] },
  'review.undo': { keys: ['Ctrl+Shift+Z', 'z'], ...anywhere },
  'review.take-value': { keys: ['1', '2', '3', '4', '5', '6', '7', '8', '9'] },
  'review.next-document': { keys: [']'] },
  'review.previous-document': { keys: ['['] },
  'review.next-page': { keys: ['PageDown'], ...anywhere },
  'review.previous-page': { keys: ['PageUp'], ...anywhere },
  'review.zoom-in': { keys: ['+', '='], ...move },
  'review.zoom-out': { keys: ['-'], ...move },
  'review.zoom-fit': { keys: ['0'] },
  'review.leave': { keys: ['Escape'], ...anywhere },
  'run.next-step': { keys: ['j', 'ArrowDown'], ...move },
  'run.previous-step': { keys: ['k', 'ArrowUp'], ...move },
  'run.next-failure': { keys: ['n'] },
  'run.previous-failure': { keys: ['p'] },
  'run.why': { keys: ['w'] },
  'run.close': { keys: ['Escape'] },
  'editor.next-problem': { keys: ['F8'], ...anywhere },
  'editor.previous-problem': { keys: ['Shift+F8'], ...anywhere },
  'editor.publish': { keys: ['Ctrl+Enter'], ...anywhere },
  'form.submit': { keys: ['Ctrl+Enter'], ...anywhere },
} satisfies Record<string, Command>

export type CommandId = keyof typeof COMMANDS

export const SECTIONS = ['general', 'list', 'review', 'run', 'editor', 'form'] as const
export type Section = (typeof SECTIONS)[number]

export function commandOf(id: CommandId): Command {
  return COMMANDS[id]
}

export function sectionOf(id: CommandId): Section {
  const name = id.slice(0, id.indexOf('.'))
  return SECTIONS.find((section) => section === name) ?? 'general'
}

export function commandsOf(section: Section): CommandId[] {
  return (Object.keys(COMMANDS) as CommandId[]).filter((id) => sectionOf(id) === section)
}
