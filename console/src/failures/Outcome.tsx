/** What came of a retry: how many are tried again, and why some are not. */
import { Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import type { Result } from './queries'

export function Outcome({ result }: { result: Result }) {
  const { t } = useTranslation()
  return (
    <Stack gap={4} role="status">
      <Text size="sm">{t('failures.retried', { count: result.retried })}</Text>
      {result.refused.length > 0 && <Text size="sm">{t('failures.refused', { count: result.refused.length })}</Text>}
      {result.refused.slice(0, 5).map((each) => (
        <Text key={`${each.run_id} ${each.step_id}`} size="xs" c="dimmed">
          {each.run_id}: {each.why}
        </Text>
      ))}
    </Stack>
  )
}
