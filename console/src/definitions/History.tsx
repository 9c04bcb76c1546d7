/** Who moved what new runs get, when and why; and the aliases that people gave versions. */
import { Button, Group, Stack, Table, Text, Title } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { useMay } from '@/api/me'
import { percent } from '@/format/numbers'
import { More } from '@/kit/More'
import { Trouble } from '@/kit/Trouble'
import { Name, Time } from '@/kit/Values'

import classes from './definitions.module.css'
import type { Move } from './moving'
import { type Aliases, movesQuery, type Target } from './queries'
import { AliasBadge, byImportance } from './states'

type Props = { definitionId: string; aliases: Aliases; onMove: (move: Move) => void }

export function History({ definitionId, aliases, onMove }: Props) {
  const { t } = useTranslation()
  const mayMove = useMay('operate')
  const found = useInfiniteQuery(movesQuery(definitionId))
  const moves = found.data?.pages.flatMap((page) => page.moves) ?? []
  return (
    <Stack className={classes.padded} gap="lg">
      <Stack gap="xs">
        <Title order={3}>{t('definitions.aliases')}</Title>
        {byImportance(aliases).map(([name, target]) => (
          <Group key={name} gap="sm" mih={26}>
            <AliasBadge name={name} target={target} withVersion />
            {mayMove && name !== 'stable' && (
              <Button
                variant="subtle"
                color="gray"
                size="compact-xs"
                leftSection={<IconTrash size={13} aria-hidden />}
                aria-label={t('definitions.removeAlias', { alias: name })}
                onClick={() => onMove({ kind: 'remove', alias: name })}
              >
                {t('definitions.do.remove')}
              </Button>
            )}
          </Group>
        ))}
      </Stack>
      <Stack gap="xs">
        <Title order={3}>{t('definitions.moves')}</Title>
        {found.error && <Trouble error={found.error} retry={() => void found.refetch()} />}
        <Table aria-label={t('definitions.moves')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('definitions.column.when')}</Table.Th>
              <Table.Th>{t('definitions.column.what')}</Table.Th>
              <Table.Th>{t('definitions.column.by')}</Table.Th>
              <Table.Th>{t('definitions.column.why')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {moves.map((move) => (
              <MoveRow key={move.move_id} move={move} />
            ))}
          </Table.Tbody>
        </Table>
        <More found={found} />
      </Stack>
    </Stack>
  )
}

function MoveRow({ move }: { move: Model<'RecordedMove'> }) {
  const { t } = useTranslation()
  const worded = (target: Target | null) => {
    if (target === null) return t('definitions.none')
    const share = typeof target.percent === 'number' ? ` (${percent(target.percent / 100)})` : ''
    return t('definitions.version', { version: target.version }) + share
  }
  const name = move.alias === 'stable' || move.alias === 'canary' ? t(`definitions.${move.alias}`) : move.alias
  return (
    <Table.Tr>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <Time value={move.moved_at} />
      </Table.Td>
      <Table.Td>
        {name}: {worded(move.before)} → {worded(move.after)}{' '}
        <Text span size="xs" c="dimmed">
          {t(`definitions.kind.${move.kind}`)}
        </Text>
      </Table.Td>
      <Table.Td>
        <Name value={move.moved_by} most={30} />
      </Table.Td>
      <Table.Td>{move.reason && <Name value={move.reason} most={120} />}</Table.Td>
    </Table.Tr>
  )
}
