/** Reasons that the server gives with a code, in the person's language. */
import type { TFunction } from 'i18next'

import en from './en.json'

type Reason = { code: string; message: string }

/**
 * In English the server's sentence, which has the values. In other languages the name of the reason, with the sentence
 * below it; only the sentence where the texts do not know the code.
 */
export function reasonWords(
  { code, message }: Reason,
  t: TFunction,
  language: string,
  kind: 'problem' | 'refused' | 'grounds' = 'problem',
): { title: string; detail: string } {
  if (language.startsWith('en') || !(code in en.review[kind])) return { title: message, detail: '' }
  return { title: t(`review.${kind}.${code}` as 'review.title'), detail: message }
}
