/** All definitions: what new runs get of each, and what is new. */
import { Table } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import { Page } from '@/kit/Page'
import { Trouble } from '@/kit/Trouble'
import { Time } from '@/kit/Values'

import { definitionsQuery } from './queries'

export function DefinitionsPage() {
  const { t } = useTranslation()
  const found = useInfiniteQuery(definitionsQuery)
  const definitions = found.data?.pages.flatMap((page) => page.definitions) ?? []
  return (
    <Page title={t('definitions.title')} description={t('definitions.description')}>
      {found.error && <Trouble error={found.error} retry={() => void found.refetch()} />}
      <Table aria-label={t('definitions.title')}>
        <Table.Tbody>
          {definitions.map((each) => (
            <Table.Tr key={each.definition_id}>
              <Table.Td>
                <Link to="/definitions/$definitionId" params={{ definitionId: each.definition_id }}>
                  {each.definition_id}
                </Link>
              </Table.Td>
              <Table.Td>{each.aliases.stable?.version}</Table.Td>
              <Table.Td>
                <Time value={each.created_at} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Page>
  )
}
