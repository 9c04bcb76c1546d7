/** The failed steps of one group, each with its run. */
import { Anchor, Button, Group as Row, Table, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import { Loading } from '@/kit/Loading'
import { More } from '@/kit/More'
import { Trouble } from '@/kit/Trouble'
import { Name, Time } from '@/kit/Values'

import classes from './FailuresPage.module.css'
import { Outcome } from './Outcome'
import { type Group, type Letter, lettersQuery, useDismiss, useRetryLetters } from './queries'

export function Letters({ group, mayResolve }: { group: Group; mayResolve: boolean }) {
  const { t } = useTranslation()
  const found = useInfiniteQuery(lettersQuery(group))
  const letters = found.data?.pages.flatMap((page) => page.letters)
  if (found.error) return <Trouble error={found.error} />
  if (!letters) return <Loading height={80} />
  return (
    <div className={classes.letters}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('failures.run')}</Table.Th>
            <Table.Th>{t('failures.error')}</Table.Th>
            <Table.Th>{t('failures.failed')}</Table.Th>
            <Table.Th>{t('failures.again')}</Table.Th>
            <Table.Th>
              <span className={classes.hidden}>{t('failures.actions')}</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {letters.map((letter) => (
            <LetterRow key={letter.run_id} letter={letter} mayResolve={mayResolve} />
          ))}
        </Table.Tbody>
      </Table>
      <More found={found} />
    </div>
  )
}

function LetterRow({ letter, mayResolve }: { letter: Letter; mayResolve: boolean }) {
  const { t } = useTranslation()
  const retry = useRetryLetters()
  const dismiss = useDismiss()
  const { run_id, step_id } = letter
  const problem = retry.error ?? dismiss.error
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor
          component={Link}
          to="/runs/$runId"
          params={{ runId: run_id } as never}
          search={{ step: step_id } as never}
          size="sm"
        >
          {run_id}
        </Anchor>
        {letter.status === 'parked' && (
          <Text size="xs" c="dimmed">
            {t('failures.waits')}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Name value={letter.error_message} most={90} />
        {problem && (
          <Text size="xs" c="red" role="alert">
            {problem.message}
          </Text>
        )}
        {retry.data && retry.data.refused.length > 0 && <Outcome result={retry.data} />}
      </Table.Td>
      <Table.Td>
        <Time value={letter.failed_at} />
      </Table.Td>
      <Table.Td>{letter.failed_again > 0 ? t('failures.times', { count: letter.failed_again }) : ''}</Table.Td>
      <Table.Td>
        {mayResolve && (
          <Row gap={6} wrap="nowrap" justify="flex-end">
            <Button
              variant="default"
              size="compact-xs"
              loading={retry.isPending}
              onClick={() => retry.mutate({ letters: [{ run_id, step_id }] })}
            >
              {t('failures.retry')}
            </Button>
            {letter.status !== 'parked' && (
              <Button
                variant="subtle"
                color="gray"
                size="compact-xs"
                loading={dismiss.isPending}
                onClick={() => dismiss.mutate({ run_id, step_id })}
              >
                {t('failures.dismiss')}
              </Button>
            )}
          </Row>
        )}
      </Table.Td>
    </Table.Tr>
  )
}
