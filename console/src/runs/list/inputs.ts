/** The fields of the form that starts a run, from the inputs of its definition. */
import { type Field, fieldsOf, isObject, type Json } from '@/decide/fields'

/** Each input is a JSON Schema, which also says whether the input is required. */
export function inputFields(definition: Json): Field[] {
  const inputs = isObject(definition) && isObject(definition.inputs) ? definition.inputs : {}
  const names = Object.keys(inputs)
  if (names.length === 0) return []
  const required = names.filter((name) => {
    const input = inputs[name]
    return isObject(input) && input.required === true
  })
  return fieldsOf({ type: 'object', properties: inputs, required })
}
