/** Which definitions run this one in a step of theirs, in the versions that are in use. */
import { Anchor, Stack, Table, Text } from '@mantine/core'
import { IconSitemap } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import { Empty } from '@/kit/Empty'
import { Trouble } from '@/kit/Trouble'

import classes from './definitions.module.css'
import { dependantsQuery } from './queries'

export function Dependants({ definitionId }: { definitionId: string }) {
  const { t } = useTranslation()
  const found = useQuery(dependantsQuery(definitionId))
  if (found.error) return <Trouble error={found.error} retry={() => void found.refetch()} />
  if (!found.data) return null
  const { dependants, complete } = found.data
  if (dependants.length === 0)
    return (
      <Empty icon={IconSitemap} title={t('definitions.dependants.none')}>
        {t('definitions.dependants.noneHint')}
      </Empty>
    )
  return (
    <Stack className={classes.padded} gap="sm">
      <Text size="sm">{t('definitions.dependants.hint')}</Text>
      <Table aria-label={t('definitions.tab.dependants')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('definitions.column.definition')}</Table.Th>
            <Table.Th>{t('definitions.column.version')}</Table.Th>
            <Table.Th>{t('definitions.column.step')}</Table.Th>
            <Table.Th>{t('definitions.column.runs')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {dependants.map((each) => (
            <Table.Tr key={`${each.definition_id} ${each.version} ${each.step_id}`}>
              <Table.Td>
                <Anchor
                  size="sm"
                  renderRoot={(props) => (
                    <Link
                      {...props}
                      to="/definitions/$definitionId"
                      params={{ definitionId: each.definition_id }}
                      search={{ version: each.version, step: each.step_id }}
                    />
                  )}
                >
                  {each.definition_id}
                </Anchor>
              </Table.Td>
              <Table.Td>
                {each.version}{' '}
                <Text span size="xs" c="dimmed">
                  {each.aliases.join(', ')}
                </Text>
              </Table.Td>
              <Table.Td>{each.step_id}</Table.Td>
              <Table.Td>
                {each.nested_version === null
                  ? t('definitions.dependants.inUse')
                  : t('definitions.dependants.pinned', { version: each.nested_version })}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {!complete && (
        <Text size="sm" c="dimmed">
          {t('definitions.dependants.more')}
        </Text>
      )}
    </Stack>
  )
}
