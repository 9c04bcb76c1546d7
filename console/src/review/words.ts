/** Names that the server writes as codes, in the person's language; an unknown one as it is. */
import type { TFunction } from 'i18next'

import en from '@/texts/en.json'

import type { InvoiceProblem } from './model'

type Part = 'fields' | 'sources' | 'facts' | 'columns' | 'actions' | 'problem'

export function nameOf(part: Part, code: string, t: TFunction): string {
  const known = (en.review as unknown as Record<Part, Record<string, string>>)[part]
  return code in known ? t(`review.${part}.${code}` as 'review.title') : code.replaceAll('_', ' ')
}

/** A part of an explanation in words, for example `prior:text_label` or `checksum_valid`. */
export function factText(what: string, t: TFunction): string {
  const [kind, detail] = what.split(':', 2)
  if (kind === 'prior' && detail) return t('review.prior', { source: nameOf('sources', detail, t) })
  if (kind === 'calibration') return t('review.calibration')
  return nameOf('facts', what, t)
}

/** A rule that is broken: the server's sentence, below the rule's name where the texts are not English. */
export function problemWords(
  problem: InvoiceProblem,
  t: TFunction,
  language: string,
): { title: string; detail: string } {
  if (language.startsWith('en')) return { title: problem.message, detail: '' }
  const title = nameOf('problem', problem.code, t)
  return { title, detail: problem.message }
}
