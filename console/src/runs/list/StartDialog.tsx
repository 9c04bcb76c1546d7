/** Starts a run of a definition with inputs as JSON. */
import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { api, read } from '@/api/client'
import { keys } from '@/api/keys'
import { Trouble } from '@/kit/Trouble'

import { parsed } from '../run/parsed'

const JsonEditor = lazy(() => import('../JsonEditor').then((module) => ({ default: module.JsonEditor })))

export function StartDialog({ definition: first, onClose }: { definition?: string | undefined; onClose: () => void }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const client = useQueryClient()
  const [definition, setDefinition] = useState(first ?? null)
  const [text, setText] = useState('{}')
  const [key] = useState(() => crypto.randomUUID()) // pressing twice starts one run
  const inputs = parsed(text)
  const known = useQuery({
    queryKey: keys.definitions.list({ of: 'filter' }),
    queryFn: () => read(api.GET('/v1/definitions', { params: { query: { limit: 200 } } })),
  })
  const start = useMutation({
    mutationFn: (order: { definition: string; inputs: Record<string, unknown> }) =>
      read(api.POST('/v1/runs', { body: { ...order, key } })),
    onSuccess: ({ run_id }) => {
      void client.invalidateQueries({ queryKey: keys.runs.all })
      void navigate({ to: '/runs/$runId', params: { runId: run_id } })
    },
  })
  const send = () => {
    if (definition && inputs.ok) start.mutate({ definition, inputs: inputs.value as Record<string, unknown> })
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('runs.start.title')}
      size="lg"
      closeButtonProps={{ 'aria-label': t('runs.close') }}
    >
      <Stack gap="sm">
        <Select
          label={t('runs.filter.definition')}
          data={known.data?.definitions.map((each) => each.definition_id) ?? []}
          value={definition}
          onChange={setDefinition}
          searchable
          data-autofocus
        />
        <div>
          <Text size="sm" fw={500} mb={4}>
            {t('runs.start.inputs')}
          </Text>
          <Suspense>
            <JsonEditor initial="{}" label={t('runs.start.inputs')} onChange={setText} onSubmit={send} height={160} />
          </Suspense>
        </div>
        {start.error && <Trouble error={start.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('app.cancel')}
          </Button>
          <Button disabled={!definition || !inputs.ok} loading={start.isPending} onClick={send}>
            {t('runs.start.send')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
