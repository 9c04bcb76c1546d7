import { Button, Group, Stack, Table, Text, Title } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

import { count } from '@/format/numbers'
import { Trouble } from '@/kit/Trouble'
import { Name } from '@/kit/Values'

import classes from './batches.module.css'
import { type Batch, useRetryBatch } from './queries'

/** Why documents failed, by error class; each class, or all, can be retried. */
export function Errors({ batch }: { batch: Batch }) {
  const { t } = useTranslation()
  const retry = useRetryBatch(batch.batch_id)
  const mayRetry = batch.allowed.includes('retry')
  if (batch.errors.length === 0) return null
  return (
    <Stack gap="xs" component="section" aria-label={t('batches.failures')}>
      <Group justify="space-between">
        <Title order={2}>{t('batches.failures')}</Title>
        {mayRetry && (
          <Button
            variant="default"
            loading={retry.isPending}
            leftSection={<IconRefresh size={14} aria-hidden />}
            onClick={() => retry.mutate(undefined)}
          >
            {t('batches.retryAll', { count: batch.counts.failed })}
          </Button>
        )}
      </Group>
      {retry.error && <Trouble error={retry.error} />}
      <Table.ScrollContainer minWidth={600}>
        <Table>
          <Table.Tbody>
            {batch.errors.map((each) => (
              <Table.Tr key={each.error_type}>
                <Table.Td w={80} className={classes.right}>
                  {count(each.documents)}
                </Table.Td>
                <Table.Td>
                  <Text size="sm" fw={500}>
                    <Name value={each.error_type} />
                  </Text>
                  <Text size="xs" className={classes.error}>
                    <Name value={each.message} most={160} />
                  </Text>
                </Table.Td>
                <Table.Td className={classes.right}>
                  {mayRetry && batch.errors.length > 1 && (
                    <Button
                      variant="subtle"
                      size="compact-sm"
                      disabled={retry.isPending}
                      aria-label={t('batches.retryClass', { name: each.error_type })}
                      onClick={() => retry.mutate(each.error_type)}
                    >
                      {t('batches.retry')}
                    </Button>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  )
}
