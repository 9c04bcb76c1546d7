/** Retries a step, with or without a change. The dialog is the preview: what will run again, and what is kept. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { useKept } from '@/drafts/drafts'
import { Dialog } from '@/kit/Dialog'
import { Trouble } from '@/kit/Trouble'

import { orderOf, type StepChange, useRetry } from '../actions'
import type { StepDetail } from '../queries'
import { ReasonInput } from '../ReasonInput'
import { parsed, roundsNumbers } from './parsed'
import { RetryPreview, useRetryPreview } from './RetryPreview'

const JsonEditor = lazy(() => import('../JsonEditor').then((module) => ({ default: module.JsonEditor })))

/** What is to be done with the step, or with one item of its list. */
export type Change = { kind: 'retry' | 'edit' | 'skip' | 'output'; item?: string; config?: string }

type Props = { runId: string; detail: StepDetail; change: Change; onClose: () => void }

export function ChangeDialog({ runId, detail, change, onClose }: Props) {
  const { t } = useTranslation()
  const { step_id: stepId, status } = detail.step
  const initial = change.kind === 'edit' ? (change.config ?? detail.input?.text ?? '{}') : '{}'
  const place = { document: `run/${runId}`, field: `change:${[stepId, change.item, change.kind].join('/')}` }
  const [text, keepText, dropText] = useKept(place, initial)
  const [begun] = useState(text)
  const [reason, setReason] = useState('')
  const typed = change.kind === 'edit' || change.kind === 'output' ? change.kind : undefined
  const wanted = changeOf(change, text)
  const [asked] = useDebouncedValue(JSON.stringify(wanted), 250)
  const isParked = status === 'parked'
  const preview = useRetryPreview(
    runId,
    asked === undefined ? undefined : orderOf(stepId, JSON.parse(asked) as StepChange),
    !(isParked && change.kind === 'retry'), // nothing to foretell: it is tried again
  )
  const retry = useRetry(runId)
  const close = () => {
    dropText()
    onClose()
  }
  const send = () => {
    if (wanted && !retry.isPending) retry.mutate({ stepId, change: wanted, isParked, reason }, { onSuccess: close })
  }
  const title = t(`runs.change.title.${change.kind}`, { step: change.item ? `${stepId} · ${change.item}` : stepId })
  return (
    <Dialog onClose={close} title={title} size={680}>
      <Stack gap="sm">
        {typed && (
          <>
            <Text size="sm" c="dimmed">
              {t(`runs.change.hint.${typed}`)}
            </Text>
            <Suspense>
              <JsonEditor initial={begun} label={t(`runs.change.field.${typed}`)} onChange={keepText} onSubmit={send} />
            </Suspense>
            {!wanted && (
              <Text size="sm" c="red" role="status">
                {t('runs.change.notJson')}
              </Text>
            )}
            {roundsNumbers(text) && (
              <Alert color="yellow" p="xs">
                {t('runs.change.rounds')}
              </Alert>
            )}
          </>
        )}
        <RetryPreview found={preview.data} error={preview.error} isLoading={preview.isLoading} />
        <ReasonInput value={reason} onChange={setReason} />
        {retry.error && <Trouble error={retry.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            {t('app.cancel')}
          </Button>
          <Button disabled={!wanted || preview.error !== null} loading={retry.isPending} onClick={send}>
            {t(`runs.change.${change.kind}`)}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

function changeOf(change: Change, text: string): StepChange | undefined {
  const typed = parsed(text)
  const isObject = typed.ok && typeof typed.value === 'object' && typed.value !== null && !Array.isArray(typed.value)
  switch (change.kind) {
    case 'retry':
      return { kind: 'retry' }
    case 'skip':
      return change.item === undefined ? { kind: 'skip' } : { kind: 'items', items: { [change.item]: { skip: true } } }
    case 'edit': {
      if (!isObject) return undefined
      const config = typed.value as Record<string, unknown>
      return change.item === undefined
        ? { kind: 'edit', config }
        : { kind: 'items', items: { [change.item]: { config } } }
    }
    case 'output':
      if (!typed.ok) return undefined
      return change.item === undefined
        ? { kind: 'output', output: typed.value }
        : { kind: 'items', items: { [change.item]: { output: typed.value } } }
  }
}
