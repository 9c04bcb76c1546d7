/**
 * The fields of a form, from the JSON Schema of an answer. Plain values, choices and lists of them have fields of their own;
 * whatever else the language allows is written as JSON. The server checks the answer against the whole schema.
 */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
type Schema = { [keyword: string]: Json }

export type Field = {
  name: string
  title: string
  description: string
  isRequired: boolean
  kind: 'choice' | 'choices' | 'text' | 'long-text' | 'number' | 'whole-number' | 'date' | 'time' | 'list' | 'json'
  /** The values to choose from, as JSON text: yes and no for a truth value. */
  choices: string[]
  /** What the field holds at first, as it is typed. */
  initial: string
}

/** What is typed into each field, by its name: text, or the JSON text of what is chosen. */
export type Typed = Readonly<Record<string, string>>

/** The name of the only field of an answer that is not an object with named fields. */
export const WHOLE = ''
const LONG_TEXT = 120

/** Returns the fields of a form, in its order. */
export function fieldsOf(form: Schema): Field[] {
  const properties = isObject(form.properties) ? form.properties : {}
  const required = new Set(Array.isArray(form.required) ? form.required : [])
  const names = Object.keys(properties)
  if (names.length === 0) return [{ ...fieldOf(WHOLE, form, true), kind: 'json', initial: startOf(form) }]
  return names.map((name) => fieldOf(name, properties[name] ?? true, required.has(name)))
}

function fieldOf(name: string, schema: Json, isRequired: boolean): Field {
  const said = isObject(schema) ? schema : {}
  const { kind, choices } = kindOf(said)
  const initial = said.default === undefined ? '' : typedOf(kind, said.default)
  const title = textOf(said.title) || name.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase())
  return { name, title, description: textOf(said.description), isRequired, kind, choices, initial }
}

function kindOf(schema: Schema): { kind: Field['kind']; choices: string[] } {
  const none: string[] = []
  if (Array.isArray(schema.enum)) return { kind: 'choice', choices: schema.enum.map(written) }
  if (schema.const !== undefined) return { kind: 'choice', choices: [written(schema.const)] }
  switch (schema.type) {
    case 'boolean':
      return { kind: 'choice', choices: ['true', 'false'] }
    case 'integer':
      return { kind: 'whole-number', choices: none }
    case 'number':
      return { kind: 'number', choices: none }
    case 'string':
      if (schema.format === 'date') return { kind: 'date', choices: none }
      if (schema.format === 'date-time') return { kind: 'time', choices: none }
      return { kind: isLong(schema) ? 'long-text' : 'text', choices: none }
    case 'array':
      return kindOfList(schema)
    default:
      return { kind: 'json', choices: none }
  }
}

function kindOfList(schema: Schema): { kind: Field['kind']; choices: string[] } {
  const items = isObject(schema.items) ? schema.items : {}
  if (Array.isArray(items.enum)) return { kind: 'choices', choices: items.enum.map(written) }
  return { kind: items.type === 'string' ? 'list' : 'json', choices: [] }
}

/** A text without a short limit or a pattern is likely a remark. */
function isLong({ maxLength, pattern, format }: Schema): boolean {
  return pattern === undefined && format === undefined && (typeof maxLength !== 'number' || maxLength > LONG_TEXT)
}

function startOf(form: Schema): string {
  if (form.default !== undefined) return JSON.stringify(form.default, null, 2)
  return form.type === 'object' ? '{}' : ''
}

function typedOf(kind: Field['kind'], value: Json): string {
  if (kind === 'choice' || kind === 'json') return written(value)
  if (kind === 'list' && Array.isArray(value)) return value.join('\n')
  return typeof value === 'string' ? value : written(value)
}

export type Answer = { value: Json; problems: Record<string, Fault> }
export type Fault = 'required' | 'number' | 'wholeNumber' | 'json'

/** Returns the answer as JSON, and what keeps it from being one, by field. A field that is left empty is left out. */
export function answerOf(fields: readonly Field[], typed: Typed): Answer {
  const problems: Record<string, Fault> = {}
  const parts: Record<string, Json> = {}
  for (const field of fields) {
    const text = typed[field.name] ?? field.initial
    if (text.trim() === '') {
      if (field.isRequired) problems[field.name] = 'required'
      continue
    }
    const read = valueOf(field, text)
    if (typeof read === 'string') problems[field.name] = read
    else parts[field.name] = read.value
  }
  const isWhole = fields.length === 1 && fields[0]?.name === WHOLE
  return { value: isWhole ? (parts[WHOLE] ?? null) : parts, problems }
}

function valueOf(field: Field, text: string): { value: Json } | Fault {
  switch (field.kind) {
    case 'number':
    case 'whole-number':
      return numberOf(text.trim(), field.kind === 'whole-number')
    case 'list':
      return {
        value: text
          .split('\n')
          .map((line) => line.trim())
          .filter(Boolean),
      }
    case 'choice':
    case 'choices':
    case 'json':
      return jsonOf(text)
    default:
      return { value: text.trim() }
  }
}

/** A number as people write it, with a comma or a point before its decimals. Points between thousands are refused. */
function numberOf(text: string, isWhole: boolean): { value: Json } | Fault {
  if (!/^[-+]?\d+([.,]\d+)?$/.test(text)) return 'number'
  const value = Number(text.replace(',', '.'))
  if (isWhole && !Number.isSafeInteger(value)) return 'wholeNumber'
  return { value }
}

function jsonOf(text: string): { value: Json } | Fault {
  try {
    return { value: JSON.parse(text) as Json }
  } catch {
    return 'json'
  }
}

export function isObject(value: Json | undefined): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function written(value: Json): string {
  return JSON.stringify(value)
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
