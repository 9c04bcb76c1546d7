import { Button, Group, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { Trouble } from '@/kit/Trouble'
import { Dialog } from '@/kit/Dialog'

import { type Batch, useActOnBatch } from './queries'

/** Asks before a batch is cancelled: its open runs are, too. */
export function CancelDialog({ batch, onClose }: { batch: Batch; onClose: () => void }) {
  const { t } = useTranslation()
  const act = useActOnBatch(batch.batch_id)
  return (
    <Dialog onClose={onClose} title={t('batches.askCancel')}>
      <Stack gap="sm">
        <Text size="sm">
          {t('batches.cancelMeans', { waiting: batch.counts.waiting, running: batch.counts.running })}
        </Text>
        {act.error && <Trouble error={act.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            {t('batches.keep')}
          </Button>
          <Button color="red.8" loading={act.isPending} onClick={() => act.mutate('cancel', { onSuccess: onClose })}>
            {t('batches.cancel')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
