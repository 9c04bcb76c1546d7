/** Retries a step, with or without a change. The dialog is the preview: what will run again, and what is kept. */
import { Alert, Button, Group, ScrollArea, Stack, Table, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { Dialog } from '@/kit/Dialog'
import { Trouble } from '@/kit/Trouble'

import { previewRetry, type StepChange, useRetry } from '../actions'
import type { StepDetail } from '../queries'
import { parsed, roundsNumbers } from './parsed'

const JsonEditor = lazy(() => import('../JsonEditor').then((module) => ({ default: module.JsonEditor })))

/** What is to be done with the step, or with one item of its list. */
export type Change = { kind: 'retry' | 'edit' | 'skip' | 'output'; item?: string; config?: string }

type Props = { runId: string; detail: StepDetail; change: Change; onClose: () => void }

export function ChangeDialog({ runId, detail, change, onClose }: Props) {
  const { t } = useTranslation()
  const { step_id: stepId, status } = detail.step
  const initial = change.kind === 'edit' ? (change.config ?? detail.input?.text ?? '{}') : '{}'
  const [text, setText] = useState(initial)
  const [reason, setReason] = useState('')
  const typed = change.kind === 'edit' || change.kind === 'output' ? change.kind : undefined
  const wanted = changeOf(change, text)
  const [asked] = useDebouncedValue(JSON.stringify(wanted), 250)
  const isParked = status === 'parked'
  const preview = usePreview(runId, stepId, asked, { isParked })
  const retry = useRetry(runId)
  const send = () => {
    if (wanted && !retry.isPending) retry.mutate({ stepId, change: wanted, isParked, reason }, { onSuccess: onClose })
  }
  const title = t(`runs.change.title.${change.kind}`, { step: change.item ? `${stepId} · ${change.item}` : stepId })
  return (
    <Dialog onClose={onClose} title={title} size={680}>
      <Stack gap="sm">
        {typed && (
          <>
            <Text size="sm" c="dimmed">
              {t(`runs.change.hint.${typed}`)}
            </Text>
            <Suspense>
              <JsonEditor
                initial={initial}
                label={t(`runs.change.field.${typed}`)}
                onChange={setText}
                onSubmit={send}
              />
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
        <Preview found={preview.data} error={preview.error} isLoading={preview.isLoading} />
        <TextInput
          label={t('runs.reason')}
          placeholder={t('runs.reasonHint')}
          value={reason}
          maxLength={500}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        {retry.error && <Trouble error={retry.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
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

function usePreview(runId: string, stepId: string, asked: string | undefined, { isParked }: { isParked: boolean }) {
  return useQuery({
    queryKey: ['runs', 'preview', runId, stepId, asked],
    queryFn: () => previewRetry(runId, stepId, JSON.parse(asked ?? 'null') as StepChange),
    enabled: asked !== undefined && !(isParked && asked === '{"kind":"retry"}'), // nothing to foretell: it is tried again
    staleTime: 0,
    gcTime: 0,
    retry: false,
    placeholderData: (before) => before,
  })
}

const ORDER: readonly Model<'Fate'>[] = ['rerun', 'new', 'undone', 'skipped', 'dropped', 'reused']
const MOST_SHOWN = 200

function Preview({
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
