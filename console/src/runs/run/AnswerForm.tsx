/** Answers a waiting step with JSON. Questions to people have a page of their own; this works for every kind of wait. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { api, read } from '@/api/client'
import { keys } from '@/api/keys'

import { parsed } from './parsed'

const JsonEditor = lazy(() => import('../JsonEditor').then((module) => ({ default: module.JsonEditor })))

export function AnswerForm({ runId, stepId }: { runId: string; stepId: string }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState('{}')
  const value = parsed(text)
  const answer = useMutation({
    mutationFn: (given: unknown) =>
      read(
        api.POST('/v1/runs/{run_id}/waits/{step_id}', {
          params: { path: { run_id: runId, step_id: stepId } },
          body: { answer: given },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: keys.runs.all }),
  })
  if (!isOpen)
    return (
      <Button variant="light" onClick={() => setOpen(true)}>
        {t('runs.answer.open')}
      </Button>
    )
  const send = () => value.ok && answer.mutate(value.value)
  return (
    <Stack gap="xs">
      <Text size="sm">{t('runs.answer.hint')}</Text>
      <Suspense>
        <JsonEditor initial={text} label={t('runs.answer.label')} onChange={setText} onSubmit={send} height={120} />
      </Suspense>
      {answer.error && (
        <Alert color="red" p="xs">
          {answer.error.message}
        </Alert>
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={() => setOpen(false)}>
          {t('app.cancel')}
        </Button>
        <Button disabled={!value.ok} loading={answer.isPending} onClick={send}>
          {t('runs.answer.send')}
        </Button>
      </Group>
    </Stack>
  )
}
