import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { bindings, holderOf, keysOf, readBindings, withKeys } from './bindings'
import { COMMANDS, type CommandId, commandsOf, SECTIONS } from './commands'
import { keyOf, type Pressed, shownParts } from './keys'
import { dispatch, type Handler, register } from './registry'
import en from '@/texts/en.json'

const usual = readBindings(null)
const removals: (() => void)[] = []

function press(key: string, { on = document.body, ...more }: Partial<KeyboardEventInit> & { on?: Element } = {}) {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more })
  on.dispatchEvent(event)
  return event
}

function active(id: CommandId, options: { inDialog?: boolean; isFallback?: boolean } = {}): Handler {
  const run = vi.fn<Handler>()
  removals.push(register([{ id, run, inDialog: false, isFallback: false, ...options }]))
  return run
}

function element(tag: string, attributes: Record<string, string> = {}): Element {
  const made = document.createElement(tag)
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value))
  document.body.replaceChildren(made)
  return made
}

beforeEach(() => addEventListener('keydown', dispatch))
afterEach(() => {
  removeEventListener('keydown', dispatch)
  removals.splice(0).forEach((remove) => remove())
  bindings.set(usual)
  document.body.replaceChildren()
})

describe('the table of commands', () => {
  test('has no key twice in one section, nor one of the general section', () => {
    const ids = Object.keys(COMMANDS) as CommandId[]
    const taken = ids.flatMap((id) => keysOf(id, usual).map((key) => [id, key, holderOf(key, id, usual)]))
    expect(taken.filter(([, , holder]) => holder)).toEqual([])
  })
  test('has no Alt, which types characters, and nothing that a text field needs', () => {
    const keys = Object.values(COMMANDS).flatMap((command) => [...command.keys])
    expect(keys.filter((key) => /Alt|Ctrl\+(z|c|v|x|a|ArrowLeft|ArrowRight|Backspace)$/.test(key))).toEqual([])
  })
  test('has a name for every command', () => {
    const named = SECTIONS.flatMap((section) =>
      Object.keys(en.keyboard.commands[section]).map((name) => `${section}.${name}`),
    )
    expect(named.toSorted()).toEqual(SECTIONS.flatMap(commandsOf).toSorted())
  })
})

describe('a key', () => {
  const pressed = (key: string, more: Partial<Pressed> = {}): Pressed => ({
    ...{ key, code: '', ctrlKey: false, metaKey: false, shiftKey: false, altKey: false },
    ...more,
  })
  test('is written as commands write it', () => {
    expect(keyOf(pressed('j'))).toBe('j')
    expect(keyOf(pressed('J', { shiftKey: true }))).toBe('Shift+J')
    expect(keyOf(pressed('?', { shiftKey: true }))).toBe('?')
    expect(keyOf(pressed('Enter', { ctrlKey: true, shiftKey: true }))).toBe('Ctrl+Shift+Enter')
    expect(keyOf(pressed('k', { metaKey: true }))).toBe('Ctrl+k')
    expect(keyOf(pressed('K', { ctrlKey: true }))).toBe('Ctrl+k')
  })
  test('counts by its place on a keyboard without Latin letters', () => {
    expect(keyOf(pressed('л', { code: 'KeyK', ctrlKey: true }))).toBe('Ctrl+k')
  })
  test('is none with Alt, and none for a modifier alone', () => {
    expect(keyOf(pressed('å', { altKey: true }))).toBeUndefined()
    expect(keyOf(pressed('Shift', { shiftKey: true }))).toBeUndefined()
  })
  test('is shown as on the keyboard', () => {
    expect(shownParts('Ctrl+Shift+Enter', true)).toEqual(['⌘', 'Shift', 'Enter'])
    expect(shownParts('+', false)).toEqual(['+'])
    expect(shownParts('ArrowDown', false)).toEqual(['↓'])
  })
})

describe('a command', () => {
  test('runs, and the browser does nothing of its own', () => {
    const run = active('list.next')
    expect(press('j').defaultPrevented).toBe(true)
    expect(run).toHaveBeenCalledOnce()
  })
  test('with a single key rests in a text field, one with Ctrl works there', () => {
    const next = active('list.next')
    const approve = active('review.approve')
    press('j', { on: element('input') })
    press('j', { on: element('textarea') })
    press('j', { on: element('div', { contenteditable: 'true' }) })
    press('Enter', { on: element('input'), ctrlKey: true })
    expect(next).not.toHaveBeenCalled()
    expect(approve).toHaveBeenCalledOnce()
  })
  test('that works in text fields is not run there by a character, also a chosen one', () => {
    const approve = active('review.approve')
    bindings.set(withKeys(bindings.get(), 'review.approve', ['a']))
    expect(press('a', { on: element('input') }).defaultPrevented).toBe(false)
    expect(approve).not.toHaveBeenCalled()
    press('a')
    expect(approve).toHaveBeenCalledOnce()
  })
  test('works on a checkbox, in which nothing is typed', () => {
    const run = active('list.select')
    press('x', { on: element('input', { type: 'checkbox' }) })
    expect(run).toHaveBeenCalledOnce()
  })
  test('leaves Enter to a focused button', () => {
    const run = active('list.open')
    press('Enter', { on: element('button') })
    expect(run).not.toHaveBeenCalled()
    press('Enter')
    expect(run).toHaveBeenCalledOnce()
  })
  test('of a decision ignores a held key, one that moves does not', () => {
    const approve = active('review.approve')
    const next = active('list.next')
    expect(press('Enter', { ctrlKey: true, repeat: true }).defaultPrevented).toBe(true)
    press('j', { repeat: true })
    expect(approve).not.toHaveBeenCalled()
    expect(next).toHaveBeenCalledOnce()
  })
  test('rests while a dialog is open, that of the dialog works', () => {
    element('div', { role: 'dialog', 'aria-modal': 'true' })
    const page = active('form.submit')
    const dialog = active('review.approve', { inDialog: true })
    press('Enter', { ctrlKey: true })
    expect(page).not.toHaveBeenCalled()
    expect(dialog).toHaveBeenCalledOnce()
  })
  test('of a page goes before that of the shell, whichever was there first', () => {
    const page = active('general.search')
    const shell = active('general.search', { isFallback: true })
    press('/')
    expect(page).toHaveBeenCalledOnce()
    expect(shell).not.toHaveBeenCalled()
  })
  test('ends when its component does', () => {
    const run = active('list.next')
    removals.splice(0).forEach((remove) => remove())
    press('j')
    expect(run).not.toHaveBeenCalled()
  })
  test('rests while a character is composed, and where another handler has answered', () => {
    const run = active('list.next')
    press('j', { isComposing: true })
    const field = element('div')
    field.addEventListener('keydown', (event) => event.preventDefault())
    press('j', { on: field })
    expect(run).not.toHaveBeenCalled()
  })
})

describe('a person', () => {
  test('changes a key, and gets the usual one back', () => {
    const run = active('review.why')
    bindings.set(withKeys(bindings.get(), 'review.why', ['F2']))
    press('w')
    expect(run).not.toHaveBeenCalled()
    press('F2')
    expect(run).toHaveBeenCalledOnce()
    bindings.set(withKeys(bindings.get(), 'review.why', undefined))
    press('w')
    expect(run).toHaveBeenCalledTimes(2)
  })
  test('switches single keys off; the arrows stay', () => {
    const run = active('list.next')
    bindings.set({ ...usual, singleKeys: false })
    press('j')
    expect(run).not.toHaveBeenCalled()
    press('ArrowDown')
    expect(run).toHaveBeenCalledOnce()
  })
  test('with stored nonsense has the usual keys', () => {
    expect(readBindings('x')).toEqual(usual)
    expect(readBindings({ changed: { nothing: ['a'], 'list.next': 'j', 'list.open': ['o'] } })).toEqual({
      changed: { 'list.open': ['o'] },
      singleKeys: true,
    })
  })
})
