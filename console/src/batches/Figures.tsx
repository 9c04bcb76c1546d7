import { Group, Text, UnstyledButton } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import { count } from '@/format/numbers'

import classes from './batches.module.css'
import type { Batch } from './queries'
import { STATES } from './search'
import { DOCUMENTS } from './states'

const route = getRouteApi('/batches/$batchId')

/** How many documents are in each state; a number shows those documents only, and once more all of them. */
export function Figures({ batch }: { batch: Batch }) {
  const { t } = useTranslation()
  const { state: chosen } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <div className={classes.figures}>
      {STATES.map((state) => {
        const { icon: Symbol } = DOCUMENTS[state]
        const isChosen = state === chosen
        return (
          <UnstyledButton
            key={state}
            className={classes.figure}
            aria-pressed={isChosen}
            onClick={() => void navigate({ search: isChosen ? {} : { state }, replace: true })}
          >
            <span className={classes.number}>{count(batch.counts[state])}</span>
            <Group gap={4} wrap="nowrap">
              <Symbol size={14} stroke={1.8} aria-hidden />
              <Text span size="xs" c="dimmed">
                {t(`batches.states.${state}`)}
              </Text>
            </Group>
          </UnstyledButton>
        )
      })}
    </div>
  )
}
