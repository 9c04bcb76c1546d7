/** The failed steps of one group, each with its run. */
import { Anchor, Button, Checkbox, Group as Row, Table, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
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
  const [selected, setSelected] = useState(NONE)
  const letters = found.data?.pages.flatMap((page) => page.letters)
  if (found.error) return <Trouble error={found.error} />
  if (!letters) return <Loading height={80} />
  const chosen = letters.filter((letter) => selected.has(letter.run_id))
  const select = (letter: Letter) => {
    const next = new Set(selected)
    if (!next.delete(letter.run_id)) next.add(letter.run_id)
    setSelected(next)
  }
  return (
    <div className={classes.letters}>
      {mayResolve && <Selected chosen={chosen} onDone={() => setSelected(NONE)} />}
      <Table>
        <Table.Thead>
          <Table.Tr>
            {mayResolve && (
              <Table.Th w={28}>
                <Checkbox
                  size="xs"
                  aria-label={t('failures.selectAll')}
                  checked={letters.length > 0 && chosen.length === letters.length}
                  indeterminate={chosen.length > 0 && chosen.length < letters.length}
                  onChange={(event) =>
                    setSelected(event.currentTarget.checked ? new Set(letters.map((each) => each.run_id)) : NONE)
                  }
                />
              </Table.Th>
            )}
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
            <LetterRow
              key={letter.run_id}
              letter={letter}
              mayResolve={mayResolve}
              isSelected={selected.has(letter.run_id)}
              onSelect={() => select(letter)}
            />
          ))}
        </Table.Tbody>
      </Table>
      <More found={found} />
    </div>
  )
}

/** What can be done with those that are selected. Their runs are retried at once, and dismissed one after the other. */
function Selected({ chosen, onDone }: { chosen: Letter[]; onDone: () => void }) {
  const { t } = useTranslation()
  const retry = useRetryLetters()
  const dismiss = useDismiss()
  const waits = chosen.some((letter) => letter.status === 'parked')
  const letters = chosen.map(({ run_id, step_id }) => ({ run_id, step_id }))
  const isBusy = retry.isPending || dismiss.isPending
  const label = t('failures.selected', { count: chosen.length })
  return (
    <>
      {chosen.length > 0 && (
        <Row gap={6} py={4} role="toolbar" aria-label={label}>
          <Text size="sm">{label}</Text>
          <Button
            variant="default"
            size="compact-xs"
            disabled={isBusy}
            onClick={() => retry.mutate({ letters }, { onSuccess: onDone })}
          >
            {t('failures.retry')}
          </Button>
          {!waits && (
            <Button
              variant="subtle"
              color="gray"
              size="compact-xs"
              disabled={isBusy}
              onClick={() => dismiss.mutate(letters, { onSuccess: onDone })}
            >
              {t('failures.dismiss')}
            </Button>
          )}
        </Row>
      )}
      {retry.data && <Outcome result={retry.data} />}
      {(retry.error ?? dismiss.error) && <Trouble error={retry.error ?? dismiss.error} />}
    </>
  )
}

const NONE: ReadonlySet<string> = new Set()

type LetterProps = { letter: Letter; mayResolve: boolean; isSelected: boolean; onSelect: () => void }

function LetterRow({ letter, mayResolve, isSelected, onSelect }: LetterProps) {
  const { t } = useTranslation()
  const retry = useRetryLetters()
  const dismiss = useDismiss()
  const { run_id, step_id } = letter
  const problem = retry.error ?? dismiss.error
  return (
    <Table.Tr>
      {mayResolve && (
        <Table.Td>
          <Checkbox
            size="xs"
            aria-label={t('failures.select', { run: run_id })}
            checked={isSelected}
            onChange={onSelect}
          />
        </Table.Td>
      )}
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
                onClick={() => dismiss.mutate([{ run_id, step_id }])}
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
