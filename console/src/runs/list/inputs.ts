/** The fields of the form that starts a run, from the inputs of its definition. */
import { type Answer, answerOf, type Field, fieldsOf, isObject, type Json, type Typed } from '@/decide/fields'

/** Each input is a JSON Schema, which also says whether the input is required. */
export function inputFields(definition: Json): Field[] {
  return fieldsOfInputs(inputsOf(definition))
}

/** The document of a run cannot change. */
const FIXED = 'document_id'

/** The fields of the form that changes the inputs of a run, which begin with their present values. */
export function changeableInputs(definition: Json, present: Readonly<Record<string, unknown>>): Field[] {
  const inputs = Object.entries(inputsOf(definition)).filter(([name]) => name !== FIXED)
  const withPresent = inputs.map(([name, schema]) => {
    const { default: _, ...rest } = isObject(schema) ? schema : {}
    const value = present[name] as Json | undefined
    return [name, value === null || value === undefined ? rest : { ...rest, default: value }] as const
  })
  return fieldsOfInputs(Object.fromEntries(withPresent))
}

/** The inputs that were changed. An emptied one is null, for which the server takes its default. */
export function changedInputs(fields: readonly Field[], typed: Typed): Answer {
  const changed = fields.filter(({ name, initial }) => (typed[name] ?? initial) !== initial)
  const { value, problems } = answerOf(changed, typed)
  const emptied = Object.fromEntries(changed.map(({ name }) => [name, null]))
  return { value: { ...emptied, ...(value as Record<string, Json>) }, problems }
}

function inputsOf(definition: Json): { [name: string]: Json } {
  return isObject(definition) && isObject(definition.inputs) ? definition.inputs : {}
}

function fieldsOfInputs(inputs: { [name: string]: Json }): Field[] {
  const names = Object.keys(inputs)
  if (names.length === 0) return []
  const required = names.filter((name) => {
    const input = inputs[name]
    return isObject(input) && input.required === true
  })
  return fieldsOf({ type: 'object', properties: inputs, required })
}
