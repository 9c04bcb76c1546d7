import { Button, Group } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'

import { api, read } from '@/api/client'
import { keys } from '@/api/keys'
import { useMay } from '@/api/me'
import { notifyProblem } from '@/kit/notify'

import type { Row } from './queries'

/** What can be done with a failed document. */
export function FailedActions({ row }: { row: Row }) {
  const { t } = useTranslation()
  const mayReview = useMay('review')
  const cache = useQueryClient()
  const act = useMutation({
    mutationFn: (path: '/v1/documents/{document_id}/send-again' | '/v1/documents/{document_id}/dismiss') =>
      read(api.POST(path, { params: { path: { document_id: row.document_id } } })),
    onError: notifyProblem,
    onSettled: () => cache.invalidateQueries({ queryKey: keys.documents.all }),
  })
  if (!mayReview) return null
  return (
    <Group gap={4} wrap="nowrap">
      <Button
        variant="default"
        size="compact-xs"
        loading={act.isPending}
        onClick={() => act.mutate('/v1/documents/{document_id}/send-again')}
      >
        {t('inbox.sendAgain')}
      </Button>
      {row.status === 'failed' && (
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          disabled={act.isPending}
          onClick={() => act.mutate('/v1/documents/{document_id}/dismiss')}
        >
          {t('inbox.dismiss')}
        </Button>
      )}
    </Group>
  )
}
