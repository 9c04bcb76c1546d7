import { Button, Group } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'

import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'
import { notifyProblem } from '@/kit/notify'

import type { Row } from './queries'

type Action = Model<'RowAction'>

/** What can be done with a document where it stands in the list: what the server allows. */
export function RowActions({ row }: { row: Row }) {
  const { t } = useTranslation()
  const cache = useQueryClient()
  const act = useMutation({
    mutationFn: (action: Action) =>
      read(api.POST(`/v1/documents/{document_id}/${action}`, { params: { path: { document_id: row.document_id } } })),
    onError: notifyProblem,
    onSettled: () => cache.invalidateQueries({ queryKey: keys.documents.all }),
  })
  const allowed = row.actions.filter((action) => action.allowed)
  if (allowed.length === 0) return null
  return (
    <Group gap={4} wrap="nowrap">
      {allowed.map(({ name }) => (
        <Button
          key={name}
          variant={name === 'dismiss' ? 'subtle' : 'default'}
          color={name === 'dismiss' ? 'gray' : undefined}
          size="compact-xs"
          disabled={act.isPending}
          loading={act.isPending && act.variables === name}
          onClick={() => act.mutate(name)}
        >
          {t(`inbox.actions.${name}`)}
        </Button>
      ))}
    </Group>
  )
}
