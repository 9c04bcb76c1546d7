/** All tenants, with how much each works. They begin with their first key, which the server's machine makes. */
import { Anchor, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import { count } from '@/format/numbers'
import { Money, Time } from '@/kit/Values'

import { DataTable, Number, useActionsColumn } from './DataTable'
import classes from './Operations.module.css'
import { tenantsQuery } from './queries'

export function TenantsPart() {
  const { t } = useTranslation()
  const found = useQuery(tenantsQuery)
  const actions = useActionsColumn()
  return (
    <DataTable
      label={t('operations.tenants.title')}
      found={found}
      columns={[
        { name: t('operations.tenant') },
        { name: t('operations.tenants.keys'), isNumber: true },
        { name: t('operations.tenants.used') },
        { name: t('operations.tenants.documents'), isNumber: true },
        { name: t('operations.tenants.failed'), isNumber: true },
        { name: t('operations.tenants.cost'), isNumber: true },
        actions,
      ]}
    >
      {found.data?.tenants.map((each) => (
        <Table.Tr key={each.tenant}>
          <Table.Td>{each.tenant}</Table.Td>
          <Number>{count(each.keys)}</Number>
          <Table.Td className={classes.line}>
            {each.last_used_at ? <Time value={each.last_used_at} /> : t('operations.never')}
          </Table.Td>
          <Number>{count(each.documents)}</Number>
          <Number>{count(each.failed)}</Number>
          <Number>
            <Money value={each.spent_today} currency={found.data.currency} />
          </Number>
          <Table.Td className={classes.right}>
            <Anchor
              component={Link}
              size="sm"
              to="/operations/$part"
              params={{ part: 'quotas' } as never}
              search={{ tenant: each.tenant } as never}
              aria-label={t('operations.tenants.quotasOf', { tenant: each.tenant })}
            >
              {t('operations.quotas.title')}
            </Anchor>
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  )
}
