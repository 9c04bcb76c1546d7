import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import type { Problem } from '@/api/problem'
import { visible } from '@/format/text'
import { problemText } from '@/kit/problem_text'
import { reasonWords } from '@/texts/reasons'

/** Why a typed value was refused; in other languages than English, the server's sentence is its title. */
export function Refused({ problem, mt }: { problem: Problem; mt?: number }) {
  const { t, i18n } = useTranslation()
  const [first] = (problem.body.problems ?? []) as { message?: string; code?: string | null }[]
  const { title, detail } = reasonWords({ message: '', ...first }, t, i18n.language, 'review.refused')
  return (
    <Text size="xs" c="red" mt={mt} role="alert" title={visible(detail)}>
      {title ? visible(title) : problemText(problem, t).detail}
    </Text>
  )
}
