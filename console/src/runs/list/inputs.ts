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

/** The document of a run cannot change. */
const FIXED = 'document_id'

/** The fields of the form that changes the inputs of a run: what is left empty keeps its value. */
export function changeableInputs(definition: Json): Field[] {
  return inputFields(definition)
    .filter(({ name }) => name !== FIXED)
    .map((field) => ({ ...field, isRequired: false, initial: '' }))
}
