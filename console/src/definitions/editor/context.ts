/**
 * Where the cursor is in a definition's text: the keys that lead to it. Works on any text, also one that is no YAML at
 * present, because it only looks at indentation and brackets.
 */

/** Keys from the root; `[]` is an element of a list. `key`: the value of this key is typed; undefined: a key is. */
export type Context = { path: string[]; key: string | undefined; typed: string }

type Line = { dashes: number[]; key: string | undefined; column: number; rest: string }

const LINE = /^(\s*)((?:-\s+)*)(?:("[^"]*"|'[^']*'|[\w.$-]+)\s*:(?=\s|$))?(.*)$/s
const FLOW_ENTRY = /^\s*(?:("[^"]*"|'[^']*'|[\w.$-]+)\s*:\s+)?(.*)$/s

export function contextAt(text: string, position: number): Context {
  const before = text.slice(0, position)
  const lines = before.split('\n')
  const here = lineOf(lines.at(-1) ?? '')
  const flow = inBrackets(here.rest)
  const around = pathAround(lines.slice(0, -1), here)
  if (!flow) return { path: around, key: here.key, typed: here.rest.trimStart() }
  const outer = here.key === undefined ? around : [...around, here.key]
  return { path: [...outer, ...flow.path], key: flow.key, typed: flow.typed }
}

function lineOf(text: string): Line {
  const [, indent = '', marks = '', key, rest = ''] = LINE.exec(text) ?? []
  const dashes = [...marks.matchAll(/-/g)].map((mark) => indent.length + mark.index)
  return { dashes, key: unquoted(key), column: indent.length + marks.length, rest }
}

/** The keys above a line, by their indentation. */
function pathAround(above: readonly string[], here: Line): string[] {
  const path: string[] = []
  let keysBelow = here.column
  let dashesBelow = here.column
  const enter = (dashes: readonly number[]) => {
    for (const dash of dashes.toReversed().filter((each) => each < dashesBelow)) {
      path.unshift('[]')
      dashesBelow = dash
      keysBelow = dash + 1 // a list may stand as far left as its key
    }
  }
  enter(here.dashes)
  for (const text of above.toReversed()) {
    if (keysBelow <= 0) break
    if (text.trim() === '' || text.trimStart().startsWith('#')) continue
    const line = lineOf(text)
    if (line.key !== undefined && line.column < keysBelow && line.rest.trim() === '') {
      path.unshift(line.key)
      keysBelow = dashesBelow = line.column
    }
    enter(line.dashes)
  }
  return path
}

/** The keys inside brackets that are open at the end of a value, as in `{for: signal, accept: {`. */
function inBrackets(value: string): Context | undefined {
  const path: string[] = []
  let start: number | undefined
  const stack: { length: number }[] = []
  for (const [at, character] of [...outsideQuotes(value)].entries()) {
    if (character === '{' || character === '[') {
      const entry = start === undefined ? undefined : entryOf(value.slice(start, at))
      stack.push({ length: path.length })
      if (entry?.key !== undefined) path.push(entry.key)
      if (character === '[') path.push('[]')
      start = at + 1
    } else if (character === '}' || character === ']') {
      path.length = stack.pop()?.length ?? 0
    } else if (character === ',' && stack.length > 0) start = at + 1
  }
  if (stack.length === 0 || start === undefined) return undefined
  return { path, ...entryOf(value.slice(start)) }
}

function entryOf(text: string): { key: string | undefined; typed: string } {
  const [, key, typed = ''] = FLOW_ENTRY.exec(text) ?? []
  return { key: unquoted(key), typed: typed.trimStart() }
}

/** The text with what is quoted blanked out. */
function outsideQuotes(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?/g, (quoted) => ' '.repeat(quoted.length))
}

function unquoted(key: string | undefined): string | undefined {
  return key?.replace(/^["']|["']$/g, '')
}

/** The handler of the step around a position: the word after the nearest `handler:` of the same list element. */
export function handlerAt(text: string, position: number): string | undefined {
  const before = text.slice(0, position)
  const first = Math.max(before.lastIndexOf('\n- '), before.lastIndexOf('\n  - '), before.lastIndexOf('\n    - '), 0)
  const dash = /\n?(\s*)- /.exec(text.slice(first))?.[1] ?? ''
  const after = text.slice(position)
  const end = after.indexOf(`\n${dash}- `)
  const step = text.slice(first, end === -1 ? undefined : position + end)
  return /\bhandler["']?\s*:\s*["']?([\w.]+)/.exec(step)?.[1]
}

/** The ids of all steps of the text. */
export function stepIds(text: string): string[] {
  const found = text.matchAll(/^\s*-\s*\{?.*?\b(?:id|node_id)\s*:\s*["']?([A-Za-z]\w*)/gm)
  return [...new Set([...found].map((match) => match[1] ?? ''))]
}
