import { Badge, Stack, Switch, Table, Text } from '@mantine/core'
import { IconArrowsDiff, IconFileUnknown } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { percent } from '@/format/numbers'
import { Empty } from '@/kit/Empty'
import { Loading } from '@/kit/Loading'
import { State } from '@/kit/State'
import { Trouble } from '@/kit/Trouble'
import { Name, Time } from '@/kit/Values'

import classes from './DocumentPage.module.css'
import { readerName } from './History'
import { type Readings, readingsQuery } from './queries'
import { shownValue } from './values'

/** Every reading in a column of its own; where they differ, the row says so. */
export function ReadingsTable({ documentId }: { documentId: string }) {
  const { t } = useTranslation()
  const [onlyDifferences, setOnly] = useState(false)
  const { data, error, refetch } = useQuery(readingsQuery(documentId))
  if (error) return <Trouble error={error} retry={() => void refetch()} />
  if (!data) return <Loading height={160} />
  if (data.readings.length === 0) {
    return (
      <Empty icon={IconFileUnknown} title={t('documents.unread')}>
        {t('documents.unreadHint')}
      </Empty>
    )
  }
  const differing = data.fields.filter((field) => field.differs).length
  const shown = onlyDifferences ? data.fields.filter((field) => field.differs) : data.fields
  return (
    <Stack gap="xs">
      {data.readings.length > 1 && (
        <Switch
          label={t('documents.onlyDifferences', { count: differing })}
          checked={onlyDifferences}
          onChange={(event) => setOnly(event.currentTarget.checked)}
        />
      )}
      <Table.ScrollContainer minWidth={200 + 180 * data.readings.length}>
        <Table>
          <Head readings={data.readings} />
          <Table.Tbody>
            {shown.map((field) => (
              <Row key={field.name} field={field} />
            ))}
            {!onlyDifferences && <Lines readings={data.readings} />}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  )
}

function Head({ readings }: { readings: Readings['readings'] }) {
  const { t } = useTranslation()
  const names = t('documents.readers', { returnObjects: true })
  return (
    <Table.Thead>
      <Table.Tr>
        <Table.Th>{t('documents.field')}</Table.Th>
        {readings.map((reading) => (
          <Table.Th key={reading.version}>
            <Stack gap={2}>
              <Text size="sm" fw={600} component="span">
                <Name value={readerName(reading.model || reading.reader, names)} />{' '}
                {reading.is_used && readings.length > 1 && <Badge size="sm">{t('documents.used')}</Badge>}
              </Text>
              <Text size="xs" c="dimmed" component="span">
                {t('documents.confidence', { share: percent(reading.confidence) })}
              </Text>
              <Text size="xs" c="dimmed" component="span">
                <Time value={reading.read_at} />
              </Text>
            </Stack>
          </Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
  )
}

function Row({ field }: { field: Readings['fields'][number] }) {
  const { t } = useTranslation()
  const names = t('exports.columns', { returnObjects: true }) as Record<string, string>
  return (
    <Table.Tr className={field.differs ? classes.differs : undefined}>
      <Table.Th scope="row" fw={500}>
        {names[field.name] ?? field.name}{' '}
        {field.differs && (
          <State icon={IconArrowsDiff} color="yellow">
            {t('documents.differs')}
          </State>
        )}
      </Table.Th>
      {field.values.map((value, place) => (
        <Table.Td key={place}>
          {value === null ? <span className={classes.was}>–</span> : <Name value={shownValue(field.name, value, t)} />}
        </Table.Td>
      ))}
    </Table.Tr>
  )
}

function Lines({ readings }: { readings: Readings['readings'] }) {
  const { t } = useTranslation()
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={500}>
        {t('documents.lineItems')}
      </Table.Th>
      {readings.map((reading) => (
        <Table.Td key={reading.version}>{reading.line_items}</Table.Td>
      ))}
    </Table.Tr>
  )
}
