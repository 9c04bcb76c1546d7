import { expect, test } from 'vitest'

import de from './de.json'
import en from './en.json'

type Tree = { [key: string]: string | Tree }

function leaves(texts: Tree, prefix = ''): [string, string][] {
  return Object.entries(texts).flatMap(([key, text]): [string, string][] =>
    typeof text === 'string' ? [[prefix + key, text]] : leaves(text, `${prefix}${key}.`),
  )
}

/** A language may need other plural forms than English: they count as one text. */
const keys = (texts: Tree) => [
  ...new Set(leaves(texts).map(([key]) => key.replace(/_(zero|one|two|few|many|other)$/, ''))),
]
const placeholders = (text: string) => (text.match(/{{\w+}}/g) ?? []).toSorted().join()

test('every language has the same texts', () => {
  expect(keys(de).toSorted()).toEqual(keys(en).toSorted())
})

test('every text names the same values in every language', () => {
  const german = new Map(leaves(de))
  const different = leaves(en).filter(([key, text]) => placeholders(german.get(key) ?? text) !== placeholders(text))
  expect(different).toEqual([])
})

test('no text is empty', () => {
  expect([...leaves(en), ...leaves(de)].filter(([, text]) => !text.trim())).toEqual([])
})
