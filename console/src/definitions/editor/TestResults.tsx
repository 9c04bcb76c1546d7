/** The results of a definition's tests. */
import { List, Text } from '@mantine/core'
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'

import classes from './editor.module.css'

export function TestResults({ results }: { results: readonly Model<'TrialResult'>[] }) {
  const { t } = useTranslation()
  if (results.length === 0) return <Text size="sm">{t('editor.tests.none')}</Text>
  return (
    <List spacing={6} size="sm" listStyleType="none" className={classes.tests} aria-label={t('editor.tests.title')}>
      {results.map(({ name, passed, problems }, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- two tests may have the same name
        <List.Item key={at} icon={<Sign passed={passed} />}>
          <Text size="sm" fw={550}>
            {name || t('editor.tests.unnamed', { number: at + 1 })}
          </Text>
          {problems.map((problem) => (
            <Text key={problem.path + problem.message} size="xs" c="dimmed">
              {problem.path}: {problem.message}
            </Text>
          ))}
        </List.Item>
      ))}
    </List>
  )
}

function Sign({ passed }: { passed: boolean }) {
  const { t } = useTranslation()
  return passed ? (
    <IconCircleCheck
      size={16}
      color="var(--mantine-color-teal-text)"
      role="img"
      aria-label={t('editor.tests.passed')}
    />
  ) : (
    <IconCircleX size={16} color="var(--mantine-color-red-text)" role="img" aria-label={t('editor.tests.failed')} />
  )
}
