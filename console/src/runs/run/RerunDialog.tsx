/** Starts an ended run again: from steps that completed, with other inputs, or both. The dialog is the preview. */
import { Button, Group, MultiSelect, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { api, read } from '@/api/client'
import { keys } from '@/api/keys'
import { AnswerFields } from '@/decide/AnswerForm'
import type { Field, Json, Typed } from '@/decide/fields'
import { useKept } from '@/drafts/drafts'
import { Dialog } from '@/kit/Dialog'
import { Trouble } from '@/kit/Trouble'

import { type RetryOrder, useRerun } from '../actions'
import { changeableInputs, changedInputs } from '../list/inputs'
import { type RunHead, stepsQuery } from '../queries'
import { ReasonInput } from '../ReasonInput'
import { RetryPreview, useRetryPreview } from './RetryPreview'

type Props = {
  run: RunHead
  /** The step that it runs again from, to begin with. */
  step?: string | undefined
  onClose: () => void
}

const NO_FIELDS: Field[] = []
const NOTHING: Typed = {}
const MOST_OFFERED = 50

export function RerunDialog({ run, step, onClose }: Props) {
  const { t } = useTranslation()
  const [steps, setSteps] = useState(step === undefined ? [] : [step])
  const [typed, keepTyped, dropTyped] = useKept<Typed>({ document: `run/${run.run_id}`, field: 'rerun' }, NOTHING)
  const [reason, setReason] = useState('')
  const known = useQuery(stepsQuery(run.run_id, '', run.status))
  const fields = useInputs(run)
  const { value, problems } = changedInputs(fields.data ?? NO_FIELDS, typed)
  const order: RetryOrder = { from_steps: steps, inputs: value as Record<string, unknown> }
  const isReady = Object.keys(problems).length === 0 && (steps.length > 0 || Object.keys(order.inputs ?? {}).length > 0)
  const wanted = isReady ? JSON.stringify(order) : undefined
  const [asked] = useDebouncedValue(wanted, 250)
  const preview = useRetryPreview(run.run_id, asked === undefined ? undefined : (JSON.parse(asked) as RetryOrder))
  const rerun = useRerun(run.run_id)
  const close = () => {
    dropTyped()
    onClose()
  }
  return (
    <Dialog onClose={close} title={t('runs.rerun.title')} size={680}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady && !rerun.isPending) rerun.mutate({ ...order, reason }, { onSuccess: close })
        }}
      >
        <Stack gap="sm">
          <Text size="sm">{t('runs.rerun.means')}</Text>
          <MultiSelect
            label={t('runs.rerun.from')}
            description={t('runs.rerun.fromHint')}
            data={known.data?.steps.map(({ step_id }) => step_id) ?? steps}
            value={steps}
            onChange={setSteps}
            limit={MOST_OFFERED}
            searchable
            clearable
            clearButtonProps={{ 'aria-label': t('runs.rerun.none') }}
            data-autofocus
          />
          {fields.error && <Trouble error={fields.error} retry={() => void fields.refetch()} />}
          {fields.data && fields.data.length > 0 && (
            <Stack component="fieldset" gap="sm" p={0} m={0} bd={0} miw={0}>
              <Text component="legend" size="sm" c="dimmed">
                {t('runs.rerun.inputs')}
              </Text>
              <AnswerFields
                fields={fields.data}
                typed={typed}
                problems={problems}
                onType={(name, text) => keepTyped({ ...typed, [name]: text })}
              />
            </Stack>
          )}
          {isReady && <RetryPreview found={preview.data} error={preview.error} isLoading={preview.isLoading} />}
          <ReasonInput value={reason} onChange={setReason} />
          {rerun.error && <Trouble error={rerun.error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              {t('app.cancel')}
            </Button>
            <Button type="submit" disabled={!isReady || preview.error !== null} loading={rerun.isPending}>
              {t('runs.rerun.send')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}

/** The fields of the inputs of the run's version, with the values that the run has. */
function useInputs({ run_id, definition_id, version }: RunHead) {
  const stored = useQuery({
    queryKey: keys.definitions.one(definition_id, 'inputs', version),
    queryFn: () =>
      read(api.GET('/v1/definitions/{definition_id}', { params: { path: { definition_id }, query: { version } } })),
  })
  const given = useQuery({
    queryKey: keys.runs.one(run_id, 'inputs'),
    queryFn: () => read(api.GET('/v1/runs/{run_id}/inputs', { params: { path: { run_id } } })),
  })
  const data = useMemo(
    () => stored.data && given.data && changeableInputs(stored.data.body as Json, given.data.inputs),
    [stored.data, given.data],
  )
  const refetch = () => Promise.all([stored.refetch(), given.refetch()])
  return { data, error: stored.error ?? given.error, refetch }
}
