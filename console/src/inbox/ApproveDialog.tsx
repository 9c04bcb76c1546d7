import { Button, Group, Loader, Progress, ScrollArea, Stack, Table, Text } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { keys } from '@/api/keys'
import { visible } from '@/format/text'
import { useCommands } from '@/keyboard/use_commands'
import { Dialog } from '@/kit/Dialog'
import { KeysOf } from '@/kit/Keys'
import { Trouble } from '@/kit/Trouble'
import { Money, Name } from '@/kit/Values'
import { reasonWords } from '@/texts/reasons'

import { approvePreviewed, type Outcome, type Preview, previewApproval, type Wanted } from './approval'

type Props = {
  wanted: Wanted
  /** Called with the documents that were tried: none if nothing was done. */
  onClose: (tried: readonly string[]) => void
}

/** Shows what a bulk approval would do before it is done, and afterwards what became of each item. */
export function ApproveDialog({ wanted, onClose }: Props) {
  const { t } = useTranslation()
  const cache = useQueryClient()
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([])
  const preview = useQuery({
    queryKey: keys.reviews.one('approval', 'preview', wanted),
    queryFn: () => previewApproval(wanted),
    staleTime: Infinity,
    gcTime: 0, // its token is for the items as they are now
  })
  const approve = useMutation({
    mutationFn: (shown: Preview) => approvePreviewed(shown, setOutcomes),
    onSettled: () => {
      for (const queryKey of [keys.documents.all, keys.reviews.all]) void cache.invalidateQueries({ queryKey })
    },
  })
  const shown = preview.data
  const mayApprove = shown !== undefined && shown.approved > 0 && approve.isIdle
  const tried = approve.isIdle ? [] : (shown?.items ?? []).flatMap((item) => item.document_id ?? [])
  const close = () => !approve.isPending && onClose(tried)
  useCommands({ 'form.submit': mayApprove ? () => approve.mutate(shown) : undefined }, { inDialog: true })
  return (
    <Dialog onClose={close} size="lg" title={t('inbox.approval.title')}>
      <Stack gap="md">
        {preview.isPending && <Loader size="sm" role="status" aria-label={t('app.loading')} />}
        {preview.isError && <Trouble error={preview.error} retry={() => void preview.refetch()} />}
        {approve.isError && <Trouble error={approve.error} />}
        {shown && approve.isIdle && <Shown preview={shown} />}
        {shown && !approve.isIdle && <Done preview={shown} outcomes={outcomes} isPending={approve.isPending} />}
        <Group justify="flex-end">
          <Button
            key={approve.status}
            variant="default"
            autoFocus={approve.isSuccess || approve.isError}
            onClick={close}
            disabled={approve.isPending}
          >
            {t(approve.isIdle ? 'app.cancel' : 'app.close')}
          </Button>
          {mayApprove && (
            <Button
              data-autofocus
              autoFocus
              leftSection={<IconCheck size={15} aria-hidden />}
              rightSection={<KeysOf command="form.submit" />}
              onKeyDown={(event) => event.repeat && event.preventDefault()}
              onClick={() => approve.mutate(shown)}
            >
              {t('inbox.approval.approve', { count: shown.approved })}
            </Button>
          )}
        </Group>
      </Stack>
    </Dialog>
  )
}

function Shown({ preview }: { preview: Preview }) {
  const { t } = useTranslation()
  const open = preview.items.filter((item) => !item.approved)
  return (
    <>
      <div role="status">
        <Text fw={600}>{t('inbox.approval.approved', { count: preview.approved })}</Text>
        {preview.sums.map((sum) => (
          <Text key={sum.currency ?? ''} size="sm" c="dimmed">
            {t('inbox.approval.sum', { count: sum.documents })} <Money value={sum.total} currency={sum.currency} />
          </Text>
        ))}
        {preview.matching > preview.items.length && (
          <Text size="sm" c="dimmed">
            {t('inbox.approval.first', { shown: preview.items.length, count: preview.matching })}
          </Text>
        )}
      </div>
      {open.length > 0 && (
        <>
          <Text fw={600}>{t('inbox.approval.open', { count: open.length })}</Text>
          <Reasons rows={open.map((item) => ({ ...item, name: item.file_name ?? item.review_id }))} />
        </>
      )}
    </>
  )
}

function Done({
  preview,
  outcomes,
  isPending,
}: {
  preview: Preview
  outcomes: readonly Outcome[]
  isPending: boolean
}) {
  const { t } = useTranslation()
  const names = new Map(preview.items.map((item) => [item.review_id, item.file_name ?? item.review_id]))
  const open = outcomes.filter((outcome) => !outcome.approved)
  return (
    <>
      {isPending && <Progress value={(100 * outcomes.length) / preview.approved} aria-label={t('app.loading')} />}
      <Text role="status" fw={600}>
        {t('inbox.approval.done', { count: outcomes.length - open.length })}
      </Text>
      {open.length > 0 && (
        <>
          <Text fw={600}>{t('inbox.approval.stayed', { count: open.length })}</Text>
          <Reasons rows={open.map((outcome) => ({ ...outcome, name: names.get(outcome.review_id) ?? '' }))} />
        </>
      )}
    </>
  )
}

type Reason = Pick<Outcome, 'review_id' | 'why' | 'reasons'> & { name: string }

function Reasons({ rows }: { rows: Reason[] }) {
  const { t, i18n } = useTranslation()
  const words = ({ why, reasons }: Reason) =>
    reasons.length > 0 ? reasons.map((each) => reasonWords(each, t, i18n.language).title).join(' · ') : (why ?? '')
  return (
    <ScrollArea.Autosize mah={280} type="auto">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('inbox.columns.file')}</Table.Th>
            <Table.Th>{t('inbox.columns.reason')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={row.review_id}>
              <Table.Td>
                <Name value={row.name} most={40} />
              </Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{visible(words(row))}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  )
}
