/** What may be written at a place, with what it means, from the JSON Schema of a definition. Plain data. */
import { type Context, contextAt, handlerAt, stepIds } from './context'

export type Schema = { readonly [word: string]: unknown }
export type Suggestion = { label: string; kind: 'key' | 'value'; description: string; type: string }

const DEEPEST = 12

/** `summaries`: what each handler does, by name. */
export function suggestions(
  root: Schema,
  summaries: Readonly<Record<string, string>>,
  text: string,
  position: number,
): Suggestion[] {
  const { path, key } = contextAt(text, position)
  const handler = handlerAt(text, position)
  if (key === undefined && path.at(-1) === '[]' && path.at(-2) === 'depends_on') return stepIds(text).map(idOf)
  const parts = below(root, path, handler)
  if (key === undefined) return keysOf(parts, root)
  if (key === 'handler') return Object.entries(summaries).map(([name, summary]) => handlerOf(name, summary))
  return valuesOf(step(parts, key, root, handler), root)
}

/** What the key or the handler at a position means; undefined: nothing is known. */
export function meaning(
  root: Schema,
  summaries: Readonly<Record<string, string>>,
  text: string,
  word: { from: number; to: number },
): string | undefined {
  const name = text.slice(word.from, word.to)
  const context: Context = contextAt(text, word.from)
  if (context.key === 'handler') return summaries[name]
  const handler = handlerAt(text, word.from)
  if (context.key !== undefined) return undefined
  const found = step(below(root, context.path, handler), name, root, handler)
  return descriptionOf(found) || undefined
}

/** The schemas of the part of a definition at a path. */
function below(root: Schema, path: readonly string[], handler: string | undefined): Schema[] {
  let parts = spread(root, root, handler)
  for (const name of path) parts = step(parts, name, root, handler)
  return parts
}

function step(parts: readonly Schema[], name: string, root: Schema, handler: string | undefined): Schema[] {
  const found = parts.flatMap((part) => {
    if (name === '[]') return schemasOf(part.items)
    const known = schemasOf(schemaOf(part.properties)?.[name])
    return known.length > 0 ? known : schemasOf(part.additionalProperties)
  })
  return found.flatMap((each) => spread(each, root, handler))
}

/** The schema and all that it refers to or combines; the rules for a handler only if it is this step's. */
function spread(schema: Schema, root: Schema, handler: string | undefined, depth = 0): Schema[] {
  if (depth > DEEPEST) return []
  const more = (each: Schema) => spread(each, root, handler, depth + 1)
  const inner = ['allOf', 'anyOf', 'oneOf'].flatMap((word) => schemasOf(schema[word]))
  const reference = schema.$ref === undefined ? [] : schemasOf(referenced(root, schema.$ref))
  return [schema, ...[...reference, ...inner, ...branches(schema, handler)].flatMap(more)]
}

function branches(schema: Schema, handler: string | undefined): Schema[] {
  const handlers = schemaOf(schemaOf(schemaOf(schema.if)?.properties)?.handler)?.enum
  if (!Array.isArray(handlers)) return [...schemasOf(schema.then), ...schemasOf(schema.else)]
  return handlers.includes(handler) ? schemasOf(schema.then) : []
}

function referenced(root: Schema, reference: unknown): unknown {
  const name = typeof reference === 'string' ? reference.replace('#/$defs/', '') : ''
  return schemaOf(root.$defs)?.[name] ?? (reference === '#' ? root : undefined)
}

function keysOf(parts: readonly Schema[], root: Schema): Suggestion[] {
  const found = new Map<string, Suggestion>()
  for (const part of parts)
    for (const [label, value] of Object.entries(schemaOf(part.properties) ?? {})) {
      const schemas = schemasOf(value).flatMap((each) => spread(each, root, undefined))
      if (schemas.length > 0 && !found.has(label))
        found.set(label, { label, kind: 'key', description: descriptionOf(schemas), type: typeOf(schemas) })
    }
  return [...found.values()]
}

function valuesOf(parts: readonly Schema[], root: Schema): Suggestion[] {
  const every = parts.flatMap((part) => spread(part, root, undefined))
  const values = every.flatMap((part) =>
    Array.isArray(part.enum) ? (part.enum as unknown[]) : part.const === undefined ? [] : [part.const],
  )
  if (every.some((part) => part.type === 'boolean')) values.push(true, false)
  const labels = new Set(values.filter((value) => typeof value !== 'object').map(String))
  return [...labels].map((label) => ({ label, kind: 'value', description: '', type: '' }))
}

function descriptionOf(parts: readonly Schema[]): string {
  return parts.map((part) => part.description).find((each) => typeof each === 'string') ?? ''
}

function typeOf(parts: readonly Schema[]): string {
  const types = parts.map((part) => part.type).filter((each) => typeof each === 'string')
  return [...new Set(types)].join(' | ')
}

function idOf(label: string): Suggestion {
  return { label, kind: 'value', description: '', type: '' }
}

function handlerOf(label: string, description: string): Suggestion {
  return { label, kind: 'value', description, type: '' }
}

function schemaOf(value: unknown): Schema | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : undefined
}

function schemasOf(value: unknown): Schema[] {
  return (Array.isArray(value) ? value : [value]).map(schemaOf).filter((each) => each !== undefined)
}
