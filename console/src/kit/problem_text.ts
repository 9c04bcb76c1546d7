/** A problem in words, in the person's language; the server's own words where the texts do not know it. */
import type { TFunction } from 'i18next'

import { asProblem, type Problem, UNREACHABLE } from '@/api/problem'
import en from '@/texts/en.json'
import { visible } from '@/format/text'

type Kind = keyof typeof en.problems
type Known = keyof typeof en.problemDetails

export function problemText(error: unknown, t: TFunction): { title: string; detail: string } {
  const { kind, body } = asProblem(error)
  const title = isKnown(kind) ? t(`problems.${kind}`) : (body.title ?? t('problems.unexpected'))
  const detail = kind === UNREACHABLE ? t('problems.unreachableDetail') : detailOf(kind, body, t)
  return { title, detail }
}

/** The catalogue's sentence, if the problem has every value that it names. */
function detailOf(kind: string, body: Problem['body'], t: TFunction): string {
  const said = visible(body.detail ?? '')
  if (!hasDetail(kind)) return said
  const values = new Map(Object.entries(body))
  const names = [...en.problemDetails[kind].matchAll(/{{(\w+)}}/g)].map(([, name]) => name as string)
  const isComplete = names.every((name) => typeof values.get(name) === 'string')
  const shown = Object.fromEntries(names.map((name) => [name, visible(String(values.get(name)))]))
  return isComplete ? t(`problemDetails.${kind}` as 'review.lockedBy', shown as { name: string; time: string }) : said
}

function hasDetail(kind: string): kind is Known {
  return kind in en.problemDetails
}

function isKnown(kind: string): kind is Kind {
  return kind in en.problems
}
