/** What a retry of a run would do, step by step, before anyone starts it. */
import { Alert, ScrollArea, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { Trouble } from '@/kit/Trouble'

import { previewRetry, type RetryOrder } from '../actions'

/** Asks the server what the order would do. While it is asked about another order, the last answer stays. */
export function useRetryPreview(runId: string, order: RetryOrder | undefined, isEnabled = true) {
  return useQuery({
    queryKey: ['runs', 'preview', runId, order],
    queryFn: () => previewRetry(runId, order ?? {}),
    enabled: order !== undefined && isEnabled,
    staleTime: 0,
    gcTime: 0,
    retry: false,
    placeholderData: (before) => before,
  })
}

const ORDER: readonly Model<'Fate'>[] = ['rerun', 'new', 'undone', 'skipped', 'dropped', 'reused']
const MOST_SHOWN = 200

export function RetryPreview({
  found,
  error,
  isLoading,
}: {
  found: Model<'RetriedRun'> | undefined
  error: Error | null
  isLoading: boolean
}) {
  const { t } = useTranslation()
  if (error) return <Trouble error={error} />
  if (!found)
    return isLoading ? (
      <Text size="sm" c="dimmed">
        {t('app.loading')}
      </Text>
    ) : null
  const fates = Object.entries(found.steps).toSorted(([, a], [, b]) => ORDER.indexOf(a.fate) - ORDER.indexOf(b.fate))
  const counts = ORDER.map((fate) => [fate, fates.filter(([, each]) => each.fate === fate).length] as const)
  const words = counts.filter(([, count]) => count > 0).map(([fate, count]) => t(`runs.fate.count.${fate}`, { count }))
  return (
    <section aria-label={t('runs.change.preview')}>
      <Text size="sm" fw={600} mb={4}>
        {words.join(' · ')}
      </Text>
      {found.end && (
        <Alert color="yellow" p="xs" mb={4}>
          {t('runs.change.ends', { end: found.end })}
        </Alert>
      )}
      <ScrollArea.Autosize mah={220} viewportProps={{ tabIndex: 0, 'aria-label': t('runs.change.preview') }}>
        <Table fz="xs" verticalSpacing={3}>
          <Table.Tbody>
            {fates.slice(0, MOST_SHOWN).map(([step, each]) => (
              <Table.Tr key={step}>
                <Table.Td fw={550}>{step}</Table.Td>
                <Table.Td>{t(`runs.fate.${each.fate}`)}</Table.Td>
                <Table.Td c="dimmed">{each.why}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        {fates.length > MOST_SHOWN && (
          <Text size="xs" c="dimmed">
            {t('runs.change.more', { count: fates.length - MOST_SHOWN })}
          </Text>
        )}
      </ScrollArea.Autosize>
    </section>
  )
}
