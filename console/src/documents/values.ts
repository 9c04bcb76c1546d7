/** Values of a document's fields as its page shows them. Plain functions. */
import type { TFunction } from 'i18next'

import { date } from '@/format/dates'
import { decimal } from '@/format/numbers'
import { isAmount } from '@/review/model'
import { nameOf } from '@/review/words'

/** A value in the words and the numbers of the person: `Rechnung`, `1.234,00`, `12.04.2026`. */
export function shownValue(field: string, value: string, t: TFunction): string {
  if (field === 'document_type') return nameOf('fields', value, t)
  return isAmount(field) ? decimal(value) : date(value)
}
