/** A problem in words: its title in the person's language, and the server's detail. */
import type { TFunction } from 'i18next'

import { asProblem, UNREACHABLE } from '@/api/problem'
import en from '@/texts/en.json'
import { visible } from '@/format/text'

type Kind = keyof typeof en.problems

export function problemText(error: unknown, t: TFunction): { title: string; detail: string } {
  const { kind, body } = asProblem(error)
  const title = isKnown(kind) ? t(`problems.${kind}`) : (body.title ?? t('problems.unexpected'))
  const detail = kind === UNREACHABLE ? t('problems.unreachableDetail') : visible(body.detail ?? '')
  return { title, detail }
}

function isKnown(kind: string): kind is Kind {
  return kind in en.problems
}
