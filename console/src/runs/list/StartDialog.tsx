/** Starts a run of a definition; its form is made of the definition's inputs. */
import { Button, Select, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { api, read } from '@/api/client'
import { keys } from '@/api/keys'
import { isProblem } from '@/api/problem'
import { AnswerForm } from '@/decide/AnswerForm'
import { answerOf, type Fault, type Field, type Json, type Typed } from '@/decide/fields'
import { useKept } from '@/drafts/drafts'
import { Dialog } from '@/kit/Dialog'
import { Trouble } from '@/kit/Trouble'

import { inputFields } from './inputs'

type Props = {
  definition?: string | undefined
  /** The version to start; by default the one that new runs get. */
  version?: number | undefined
  onClose: () => void
}

type Started = { definition: string | null; typed: Typed }

const NO_FIELDS: Field[] = []

export function StartDialog({ definition: first, version, onClose }: Props) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const client = useQueryClient()
  const [{ definition, typed }, keep, drop] = useKept<Started>(
    { document: 'start', field: `start:${first ?? ''}` },
    { definition: first ?? null, typed: {} },
  )
  const [problems, setProblems] = useState<Record<string, Fault | { said: string }>>({})
  const [key] = useState(() => crypto.randomUUID()) // pressing twice starts one run
  const known = useQuery({
    queryKey: keys.definitions.list({ of: 'filter' }),
    queryFn: () => read(api.GET('/v1/definitions', { params: { query: { limit: 200 } } })),
    enabled: first === undefined,
  })
  const stored = useQuery({
    queryKey: keys.definitions.one(definition ?? '', 'inputs', version ?? 'stable'),
    queryFn: () => {
      const path = { definition_id: definition ?? '' }
      return read(api.GET('/v1/definitions/{definition_id}', { params: { path, query: { version } } }))
    },
    enabled: definition !== null,
  })
  const fields = useMemo(() => (stored.data ? inputFields(stored.data.body as Json) : NO_FIELDS), [stored.data])
  const start = useMutation({
    mutationFn: (inputs: Record<string, unknown>) =>
      read(api.POST('/v1/runs', { body: { definition: definition ?? '', inputs, key, ...(version && { version }) } })),
    onSuccess: ({ run_id }) => {
      drop()
      void client.invalidateQueries({ queryKey: keys.runs.all })
      void navigate({ to: '/runs/$runId', params: { runId: run_id } })
    },
    onError: (error) => setProblems(problemsOf(error)),
  })
  const send = () => {
    const answer = answerOf(fields, typed)
    setProblems(answer.problems)
    const isReady = stored.data && Object.keys(answer.problems).length === 0 && !start.isPending
    if (isReady) start.mutate(answer.value as Record<string, unknown>)
  }
  const close = () => {
    drop()
    onClose()
  }
  const type = (name: string, text: string) => {
    keep({ definition, typed: { ...typed, [name]: text } })
    setProblems((before) => Object.fromEntries(Object.entries(before).filter(([each]) => each !== name)))
  }
  const title = version === undefined ? t('runs.start.title') : t('runs.start.titleOf', { version })
  return (
    <Dialog onClose={close} title={first ? `${title}: ${first}` : title} size="lg">
      <Stack gap="md">
        {first === undefined && (
          <Select
            label={t('runs.filter.definition')}
            data={known.data?.definitions.map((each) => each.definition_id) ?? []}
            value={definition}
            onChange={(value) => {
              keep({ definition: value, typed: {} })
              setProblems({})
            }}
            searchable
            data-autofocus
          />
        )}
        {stored.error && <Trouble error={stored.error} retry={() => void stored.refetch()} />}
        {start.error && Object.keys(problems).length === 0 && <Trouble error={start.error} />}
        {stored.data && fields.length === 0 && (
          <Text size="sm" c="dimmed">
            {t('runs.start.noInputs')}
          </Text>
        )}
        {(stored.data || definition === null) && (
          <AnswerForm
            key={definition}
            fields={fields}
            typed={typed}
            problems={problems}
            isSending={start.isPending}
            sendLabel={t('runs.start.send')}
            isReady={stored.data !== undefined}
            inDialog
            onType={type}
            onSend={send}
          >
            <Button variant="default" onClick={close}>
              {t('app.cancel')}
            </Button>
          </AnswerForm>
        )}
      </Stack>
    </Dialog>
  )
}

/** The server's problems with the inputs, by input; any others are shown above the form. */
function problemsOf(error: unknown): Record<string, { said: string }> {
  if (!isProblem(error, 'invalid-input')) return {}
  const found = (error.body.problems ?? []) as { path: string; message: string }[]
  const ofInputs = found.filter(({ path }) => path.startsWith('inputs.'))
  if (ofInputs.length < found.length) return {}
  return Object.fromEntries(ofInputs.map(({ path, message }) => [path.split('.')[1] ?? '', { said: message }]))
}
