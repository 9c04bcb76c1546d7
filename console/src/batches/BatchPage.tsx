/** One batch: how far it is, why documents failed, what may be done to it, and its documents. */
import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { IconDownload, IconHourglass, IconPlayerPause, IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { basePath } from '@/app/base'
import { Loading } from '@/kit/Loading'
import { Page } from '@/kit/Page'
import { Trouble } from '@/kit/Trouble'
import { Name, Time } from '@/kit/Values'

import classes from './batches.module.css'
import { CancelDialog } from './CancelDialog'
import { Documents } from './Documents'
import { Errors } from './Errors'
import { Figures } from './Figures'
import { type Batch, batchQuery, useActOnBatch } from './queries'
import { BatchState, ProgressBar } from './states'
import { progressOf, timeLeft } from './words'

const route = getRouteApi('/batches/$batchId')

export function BatchPage() {
  const { t } = useTranslation()
  const { batchId } = route.useParams()
  const { data: batch, error, refetch } = useQuery(batchQuery(batchId))
  if (!batch) {
    return (
      <Page title={t('batches.batch')}>
        {error ? <Trouble error={error} retry={() => void refetch()} /> : <Loading height={160} />}
      </Page>
    )
  }
  return (
    <Page
      title={batch.name || t('batches.unnamed')}
      badge={<BatchState batch={batch} />}
      description={<Origin batch={batch} />}
      actions={<Actions batch={batch} />}
    >
      {error && <Trouble error={error} retry={() => void refetch()} />}
      {batch.held_by !== null && (
        <Alert color="yellow" icon={<IconHourglass size={18} aria-hidden />} title={t('batches.held')}>
          {t('batches.heldHint', { quota: batch.held_by })}
        </Alert>
      )}
      {batch.webhook_error && (
        <Alert color="red" title={t('batches.webhookFailed')}>
          <Name value={batch.webhook_error} most={300} />
        </Alert>
      )}
      <Progressing batch={batch} />
      <Errors batch={batch} />
      <Documents batch={batch} />
    </Page>
  )
}

function Origin({ batch }: { batch: Batch }) {
  const { t } = useTranslation()
  return (
    <>
      <Anchor renderRoot={(props) => <Link {...props} to="/batches" />} size="sm" underline="always">
        {t('batches.title')}
      </Anchor>{' '}
      · {t('batches.orderedBy', { name: batch.created_by })} <Time value={batch.created_at} />
      {batch.deadline !== null && (
        <>
          {' '}
          · {t('batches.deadline')} <Time value={batch.deadline} />
        </>
      )}
    </>
  )
}

function Progressing({ batch }: { batch: Batch }) {
  const { t } = useTranslation()
  return (
    <Stack gap="sm" className={classes.panel} component="section" aria-label={t('batches.progressLabel')}>
      <Group justify="space-between" gap="md">
        <Text fw={600}>{progressOf(batch, t)}</Text>
        <Group gap="md">
          {batch.per_minute > 0 && !batch.completed_at && (
            <Text size="sm" c="dimmed">
              {t('batches.rate', { count: batch.per_minute })}
            </Text>
          )}
          {batch.seconds_left !== null && <Text size="sm">{timeLeft(batch, t)}</Text>}
          {batch.completed_at !== null && (
            <Text size="sm" c="dimmed">
              {t('batches.ended')} <Time value={batch.completed_at} />
            </Text>
          )}
        </Group>
      </Group>
      <ProgressBar batch={batch} size="lg" />
      <Figures batch={batch} />
    </Stack>
  )
}

function Actions({ batch }: { batch: Batch }) {
  const { t } = useTranslation()
  const act = useActOnBatch(batch.batch_id)
  const [isCancelling, setCancelling] = useState(false)
  const may = (name: string) => batch.allowed.includes(name)
  return (
    <>
      {act.error && <Trouble error={act.error} />}
      {may('close') && (
        <Button variant="default" loading={act.isPending} onClick={() => act.mutate('close')}>
          {t('batches.close')}
        </Button>
      )}
      {may('pause') && (
        <Button
          variant="default"
          loading={act.isPending}
          leftSection={<IconPlayerPause size={14} aria-hidden />}
          onClick={() => act.mutate('pause')}
        >
          {t('batches.pause')}
        </Button>
      )}
      {may('resume') && (
        <Button
          loading={act.isPending}
          leftSection={<IconPlayerPlay size={14} aria-hidden />}
          onClick={() => act.mutate('resume')}
        >
          {t('batches.resume')}
        </Button>
      )}
      {may('cancel') && (
        <Button
          variant="default"
          leftSection={<IconPlayerStop size={14} aria-hidden />}
          onClick={() => setCancelling(true)}
        >
          {t('batches.cancel')}
        </Button>
      )}
      <Button
        component="a"
        variant="default"
        href={`${basePath}/v1/batches/${batch.batch_id}/result.csv`}
        download={`${batch.batch_id}.csv`}
        leftSection={<IconDownload size={14} aria-hidden />}
      >
        {t('batches.result')}
      </Button>
      {isCancelling && <CancelDialog batch={batch} onClose={() => setCancelling(false)} />}
    </>
  )
}
