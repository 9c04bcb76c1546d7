/** What the server says about a version before new runs get it: its problems today, and what it changes. */
import { Alert, List, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'

import { Loading } from '@/kit/Loading'
import { Name } from '@/kit/Values'

import { comparisonQuery, problemsQuery, versionQuery } from './queries'

type Props = { definitionId: string; version: number; stable: number }

const MOST_SHOWN = 8

export function VersionCheck({ definitionId, version, stable }: Props) {
  const { t } = useTranslation()
  const stored = useQuery(versionQuery(definitionId, version))
  const source = stored.data?.version === version ? stored.data.source : undefined
  const checked = useQuery({
    ...problemsQuery(definitionId, version, source ?? ''),
    enabled: source !== undefined,
  })
  const compared = useQuery({ ...comparisonQuery(definitionId, stable, version), enabled: stable !== version })
  if (checked.isLoading || !source) return <Loading height={40} />
  const problems = checked.data?.problems ?? []
  return (
    <>
      {compared.data && (
        <Text size="sm">
          {t('definitions.steps', {
            version: stable,
            added: compared.data.added.length,
            removed: compared.data.removed.length,
            changed: compared.data.changed.length,
          })}
        </Text>
      )}
      {checked.data && problems.length === 0 && (
        <Text size="sm" c="dimmed">
          <IconCircleCheck size={14} aria-hidden style={{ verticalAlign: -2 }} /> {t('definitions.noProblems')}
        </Text>
      )}
      {problems.length > 0 && (
        <Alert
          color={checked.data?.valid ? 'yellow' : 'red'}
          icon={<IconAlertTriangle size={16} aria-hidden />}
          p="sm"
          title={t(checked.data?.valid ? 'definitions.warnings' : 'definitions.invalid', { count: problems.length })}
        >
          <List size="sm">
            {problems.slice(0, MOST_SHOWN).map((each) => (
              <List.Item key={`${each.path} ${each.message}`}>
                <Text span size="xs" ff="monospace">
                  {each.path}
                </Text>{' '}
                <Name value={each.message} most={300} />
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
    </>
  )
}
