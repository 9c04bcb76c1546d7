/** What models' answers cost: today against the budget, and on the last days. */
import { Progress, Stack, Table, Text, Title } from '@mantine/core'
import { IconCoinOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { useMe } from '@/api/me'
import { count, money } from '@/format/numbers'
import { Empty } from '@/kit/Empty'
import { DateOnly, Money, Name } from '@/kit/Values'

import { DataTable, Number } from './DataTable'
import classes from './Operations.module.css'
import { usageQuery } from './queries'

export function UsagePart() {
  const { t } = useTranslation()
  const found = useQuery(usageQuery)
  const tenant = useMe()?.tenant ?? ''
  const usage = found.data
  return (
    <>
      {usage && (
        <div className={classes.services}>
          <Spent name={t('app.tenant', { tenant })} spending={usage.own} currency={usage.currency} />
          {usage.all_tenants && (
            <Spent name={t('operations.usage.all')} spending={usage.all_tenants} currency={usage.currency} />
          )}
        </div>
      )}
      <Stack gap="xs">
        <Title order={2}>{t('operations.usage.days')}</Title>
        <DataTable
          label={t('operations.usage.days')}
          found={found}
          isEmpty={usage?.days.length === 0}
          empty={
            <Empty icon={IconCoinOff} title={t('operations.usage.none')}>
              {t('operations.usage.noneHint')}
            </Empty>
          }
          columns={[
            { name: t('operations.usage.day') },
            { name: t('operations.usage.model') },
            { name: t('operations.usage.answers'), isNumber: true },
            { name: t('operations.usage.unusable'), isNumber: true },
            { name: t('operations.usage.input'), isNumber: true },
            { name: t('operations.usage.output'), isNumber: true },
            { name: t('operations.usage.thinking'), isNumber: true },
            { name: t('operations.usage.cost'), isNumber: true },
          ]}
        >
          {usage?.days.map((day) => (
            <Table.Tr key={`${day.day} ${day.model}`}>
              <Table.Td className={classes.line}>
                <DateOnly value={day.day} />
              </Table.Td>
              <Table.Td>
                <Name value={day.model} />
              </Table.Td>
              <Number>{count(day.answers)}</Number>
              <Number>{count(day.unusable)}</Number>
              <Number>{count(day.input_tokens)}</Number>
              <Number>{count(day.output_tokens)}</Number>
              <Number>{count(day.thinking_tokens)}</Number>
              <Number>
                <Money value={day.cost} currency={usage.currency} />
              </Number>
            </Table.Tr>
          ))}
        </DataTable>
      </Stack>
    </>
  )
}

type SpentProps = { name: string; spending: Model<'Spending'>; currency: string }

function Spent({ name, spending, currency }: SpentProps) {
  const { t } = useTranslation()
  const { spent_today: spent, budget_per_day: budget } = spending
  const share = budget === null ? 0 : (100 * parseFloat(spent)) / (parseFloat(budget) || 1)
  return (
    <div className={classes.service}>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text size="xl" fw={600} className="numbers">
        {money(spent, currency)}
      </Text>
      {budget !== null && (
        <Progress
          size="sm"
          value={share}
          color={share >= 100 ? 'red' : share >= 80 ? 'yellow' : undefined}
          aria-label={t('operations.usage.share', { name })}
        />
      )}
      <Text size="xs" c="dimmed">
        {budget === null
          ? t('operations.usage.unlimited')
          : t('operations.usage.budget', { budget: money(budget, currency) })}
      </Text>
    </div>
  )
}
