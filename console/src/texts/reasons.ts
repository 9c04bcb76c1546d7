/** Reasons that the server gives with a code, in the person's language. */
import type { TFunction } from 'i18next'

import en from './en.json'

type Reason = { code?: string | null; message: string }

/** The texts of the codes. `refused`: why a typed value is; `grounds`: why it was read in one way. */
const TEXTS = {
  'review.problem': en.review.problem,
  'review.refused': en.review.refused,
  'review.grounds': en.review.grounds,
  'runs.refused': en.runs.refused,
}

/**
 * In English the server's sentence, which has the values. In other languages the name of the reason, with the sentence
 * below it; only the sentence where the texts do not know the code.
 */
export function reasonWords(
  { code, message }: Reason,
  t: TFunction,
  language: string,
  group: keyof typeof TEXTS = 'review.problem',
): { title: string; detail: string } {
  if (language.startsWith('en') || !code || !(code in TEXTS[group])) return { title: message, detail: '' }
  return { title: t(`${group}.${code}` as 'review.title'), detail: message }
}
