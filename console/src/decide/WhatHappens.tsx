import { Code, List, Text } from '@mantine/core'
import { IconArrowRight, IconHelp, IconPlayerSkipForward } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

import { Name } from '@/kit/Values'

import type { Consequence } from './consequences'

const ICONS = { runs: IconArrowRight, skipped: IconPlayerSkipForward, open: IconHelp, unknown: IconHelp }
const COLOURS = { runs: 'teal-text', skipped: 'dimmed', open: 'dimmed', unknown: 'dimmed' }

/** What the run does with the answer that is chosen at present. */
export function WhatHappens({ consequences }: { consequences: readonly Consequence[] }) {
  const { t } = useTranslation()
  if (consequences.length === 0) return <Text size="sm">{t('decide.nothingFollows')}</Text>
  return (
    <List spacing={8} size="sm" listStyleType="none" aria-live="polite">
      {consequences.map(({ step, fate }) => {
        const Symbol = ICONS[fate]
        return (
          <List.Item
            key={step.id}
            icon={<Symbol size={16} color={`var(--mantine-color-${COLOURS[fate]})`} aria-hidden />}
          >
            <Text size="sm" c={fate === 'skipped' ? 'dimmed' : undefined}>
              <b>
                <Name value={step.title} />
              </b>{' '}
              {t(`decide.kinds.${step.kind}`, { name: step.does })}
            </Text>
            <Text size="xs" c="dimmed">
              {t(`decide.fates.${fate}`)} {fate !== 'runs' && step.condition && <Code>{step.condition}</Code>}
            </Text>
          </List.Item>
        )
      })}
    </List>
  )
}
