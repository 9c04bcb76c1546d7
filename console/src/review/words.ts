/** Names that the server writes as codes, in the person's language; an unknown one as it is. */
import type { TFunction } from 'i18next'

import en from '@/texts/en.json'

import type { Field } from './model'
import { typedText } from './typing'

type Part = 'fields' | 'sources' | 'facts' | 'columns' | 'actions'

export function nameOf(part: Part, code: string, t: TFunction): string {
  const known = (en.review as unknown as Record<Part, Record<string, string>>)[part]
  return code in known ? t(`review.${part}.${code}` as 'review.title') : code.replaceAll('_', ' ')
}

/** A field's value as it is shown where it cannot be typed. */
export function shownText({ name, value }: Field, t: TFunction): string {
  return name === 'document_type' && value ? nameOf('fields', value, t) : typedText(name, value)
}

/** A part of an explanation in words, for example `prior:text_label` or `checksum_valid`. */
export function factText(what: string, t: TFunction): string {
  const [kind, detail] = what.split(':', 2)
  if (kind === 'prior' && detail) return t('review.prior', { source: nameOf('sources', detail, t) })
  if (kind === 'calibration') return t('review.calibration')
  return nameOf('facts', what, t)
}
