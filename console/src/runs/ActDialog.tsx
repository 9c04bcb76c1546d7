/** Asks before an action on one or many runs, and shows what came of it for each. */
import { Alert, Button, Group, List, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Dialog } from '@/kit/Dialog'

import { type BulkAction, useActOnRuns } from './actions'
import { ReasonInput } from './ReasonInput'

export type Asked = { action: BulkAction; runIds: string[]; refused: number }

const HARMFUL: ReadonlySet<BulkAction> = new Set(['abort', 'cancel'])
const MOST_AT_ONCE = 100

export function ActDialog({ asked, onClose }: { asked: Asked; onClose: (isDone: boolean) => void }) {
  const { t } = useTranslation()
  const [reason, setReason] = useState('')
  const act = useActOnRuns()
  const { action } = asked
  const runIds = asked.runIds.slice(0, MOST_AT_ONCE)
  const refusals = act.data?.outcomes.filter((outcome) => !outcome.done) ?? []
  const done = (act.data?.outcomes.length ?? 0) - refusals.length

  const send = () =>
    act.mutate(
      { action, run_ids: runIds, reason },
      { onSuccess: ({ outcomes }) => outcomes.every((outcome) => outcome.done) && onClose(true) },
    )

  return (
    <Dialog onClose={() => onClose(act.isSuccess)} title={t(`runs.ask.${action}`, { count: runIds.length })}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!act.isPending) send()
        }}
      >
        <Stack gap="sm">
          <Text size="sm">{t(`runs.means.${action}`)}</Text>
          {asked.refused > 0 && (
            <Text size="sm" c="dimmed">
              {t('runs.leftOut', { count: asked.refused })}
            </Text>
          )}
          {!act.data && <ReasonInput value={reason} onChange={setReason} isFirst />}
          {act.error && <Alert color="red">{act.error.message}</Alert>}
          {act.data && (
            <Alert color="yellow" title={t('runs.outcome', { done, refused: refusals.length })}>
              <List size="sm">
                {refusals.map((outcome) => (
                  <List.Item key={outcome.run_id}>
                    {outcome.run_id}: {outcome.why}
                  </List.Item>
                ))}
              </List>
            </Alert>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={() => onClose(act.isSuccess)}>
              {act.data ? t('runs.close') : t('runs.keep')}
            </Button>
            {!act.data && (
              <Button type="submit" color={HARMFUL.has(action) ? 'red.8' : undefined} loading={act.isPending}>
                {t(`runs.do.${action}`)}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
