/** The tests that a version contains: run them, and see the result of each. */
import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import { IconCircleCheck, IconCircleX, IconFlask, IconPlayerPlay } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'

import { api, type Model, read } from '@/api/client'
import { useMay } from '@/api/me'
import { visible } from '@/format/text'
import { Empty } from '@/kit/Empty'
import { Trouble } from '@/kit/Trouble'

import classes from './definitions.module.css'
import type { Stored } from './queries'

type Result = Model<'TrialResult'>

export function Tests({ stored }: { stored: Stored }) {
  const { t } = useTranslation()
  const mayRun = useMay('operate')
  const running = useMutation({
    mutationFn: () => read(api.POST('/v1/definitions/test', { body: { definition: stored.source } })),
  })
  const results = running.data?.tests
  const passed = results?.filter((each) => each.passed).length ?? 0
  if (results?.length === 0)
    return (
      <Empty icon={IconFlask} title={t('definitions.tests.none')}>
        {t('definitions.tests.noneHint')}
      </Empty>
    )
  return (
    <Stack className={classes.padded} gap="md">
      <Group gap="md">
        {mayRun && (
          <Button
            leftSection={<IconPlayerPlay size={14} aria-hidden />}
            loading={running.isPending}
            onClick={() => running.mutate()}
          >
            {t('definitions.tests.run')}
          </Button>
        )}
        <Text size="sm" c="dimmed" role="status">
          {results
            ? t('definitions.tests.outcome', { passed, count: results.length })
            : t(mayRun ? 'definitions.tests.hint' : 'definitions.tests.mayNot')}
        </Text>
      </Group>
      {running.error && <Trouble error={running.error} />}
      {results && (
        <ul className={classes.results} aria-label={t('definitions.tab.tests')}>
          {results.map((each, place) => (
            <Line key={`${place} ${each.name}`} result={each} />
          ))}
        </ul>
      )}
    </Stack>
  )
}

function Line({ result }: { result: Result }) {
  const { t } = useTranslation()
  const [Icon, colour, word] = result.passed
    ? [IconCircleCheck, 'teal', t('definitions.tests.passed')]
    : [IconCircleX, 'red', t('definitions.tests.failed')]
  return (
    <li className={classes.result}>
      <Group gap="xs">
        <Badge color={colour} c="var(--mantine-color-text)" leftSection={<Icon size={13} aria-hidden />}>
          {word}
        </Badge>
        <span>{visible(result.name)}</span>
      </Group>
      {result.problems.map((each) => (
        <div key={`${each.path} ${each.message}`} className={classes.mismatch}>
          <Text span size="xs" ff="monospace" c="dimmed">
            {each.path}
          </Text>{' '}
          {visible(each.message)}
        </div>
      ))}
    </li>
  )
}
