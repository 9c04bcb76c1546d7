import { Button, Group, ScrollArea, Stack, Table, Text, Title } from '@mantine/core'
import { IconFileExport, IconFileOff, IconInfoCircle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { count, decimal } from '@/format/numbers'
import { Empty } from '@/kit/Empty'
import { KeysOf } from '@/kit/Keys'
import { Trouble } from '@/kit/Trouble'
import { DateOnly, Money, Name, Time } from '@/kit/Values'

import classes from './ExportsPage.module.css'
import type { Order } from './order'
import { previewQuery } from './queries'

type Preview = Model<'Preview'>
type Props = { order: Order; isComplete: boolean; mayOrder: boolean; isOrdering: boolean; onOrder?: () => void }

/** How many documents an export would have, their totals and its first rows; and the button that makes it. */
export function PreviewPanel({ order, isComplete, mayOrder, isOrdering, onOrder }: Props) {
  const { t } = useTranslation()
  const { data, error, refetch } = useQuery(previewQuery(order, isComplete))
  return (
    <section className={classes.panel} aria-label={t('exports.preview')}>
      <Stack gap="md">
        <Group justify="space-between" align="flex-start" wrap="nowrap">
          {data ? <Sums preview={data} order={order} /> : <Title order={2}>{t('exports.preview')}</Title>}
          {mayOrder && (
            <Button
              size="sm"
              leftSection={<IconFileExport size={16} aria-hidden />}
              rightSection={<KeysOf command="form.submit" />}
              disabled={!onOrder || !data || data.documents === 0}
              loading={isOrdering}
              onClick={onOrder}
            >
              {t('exports.submit')}
            </Button>
          )}
        </Group>
        {!isComplete && <Hint>{t('exports.urlMissing')}</Hint>}
        {error && <Trouble error={error} retry={() => void refetch()} />}
        {data && data.exported_before > 0 && <Hint>{t('exports.again', { count: data.exported_before })}</Hint>}
        {data?.documents === 0 && (
          <Empty icon={IconFileOff} title={t('exports.nothing')}>
            {t(order.which === 'all' ? 'exports.nothingAtAll' : 'exports.nothingNew')}
          </Empty>
        )}
        {data && data.rows.length > 0 && <Rows preview={data} order={order} />}
      </Stack>
    </section>
  )
}

function Hint({ children }: { children: string }) {
  return (
    <Group gap={8} wrap="nowrap">
      <IconInfoCircle size={17} stroke={1.7} aria-hidden />
      <Text size="sm">{children}</Text>
    </Group>
  )
}

function Sums({ preview, order }: { preview: Preview; order: Order }) {
  const { t } = useTranslation()
  const { of = 'approved', since, until } = order.period ?? {}
  return (
    <Stack gap={2} miw={0}>
      <Title order={2} aria-live="polite">
        {t('exports.documents', { count: preview.documents, shown: count(preview.documents) })}
      </Title>
      <Text size="sm" c="dimmed">
        {t(`exports.${order.which ?? 'new'}`)} · {t(`exports.dates.${of}`)}:{' '}
        {since || until ? (
          <>
            {since && <DateOnly value={since} />} – {until && <DateOnly value={until} />}
          </>
        ) : (
          t('exports.anyDay')
        )}
      </Text>
      <Group gap="md">
        {preview.sums.map((sum) => (
          <Text key={sum.currency ?? ''} size="sm" c="dimmed">
            <Money value={sum.total} currency={sum.currency} />
            {preview.sums.length > 1 && ` · ${count(sum.documents)}`}
          </Text>
        ))}
      </Group>
    </Stack>
  )
}

function Rows({ preview, order }: { preview: Preview; order: Order }) {
  const { t } = useTranslation()
  const columns = order.columns ?? []
  const isRight = (column: number) => preview.kinds[column] === 'amount'
  return (
    <div className={classes.preview}>
      <ScrollArea.Autosize mah={340} viewportProps={{ tabIndex: 0, 'aria-label': t('exports.firstRows') }}>
        <Table stickyHeader highlightOnHover style={{ whiteSpace: 'nowrap' }}>
          <Table.Thead>
            <Table.Tr>
              {columns.map((column, place) => (
                <Table.Th key={column.name} className={isRight(place) ? classes.right : undefined}>
                  {column.heading ?? column.name}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {preview.rows.map((row, line) => (
              <Table.Tr key={line}>
                {row.map((cell, place) => (
                  <Table.Td key={place} className={isRight(place) ? classes.right : undefined}>
                    {cell !== null && <Cell kind={preview.kinds[place]} value={cell} />}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
      {preview.documents > preview.rows.length && (
        <Text size="xs" c="dimmed" p="xs">
          {t('exports.firstOf', { count: preview.rows.length })}
        </Text>
      )}
    </div>
  )
}

function Cell({ kind, value }: { kind: Preview['kinds'][number] | undefined; value: string }) {
  switch (kind) {
    case 'amount':
      return <span className="numbers">{decimal(value)}</span>
    case 'date':
      return <DateOnly value={value} />
    case 'time':
      return <Time value={value} />
    default:
      return <Name value={value} most={40} />
  }
}
