/** The items of a step's list, one by one: what failed can be edited, skipped or given an output. */
import { Group, Menu, ActionIcon, SegmentedControl, Stack, Text } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { api, read } from '@/api/client'
import { visible, visibleLines } from '@/format/text'
import { More } from '@/kit/More'
import { Trouble } from '@/kit/Trouble'

import { type Action, itemsQuery } from '../queries'
import { StatusIcon } from '../states'
import type { Change } from './ChangeDialog'
import classes from './ItemsView.module.css'

type Props = { runId: string; stepId: string; actions: Action[]; onChange: (change: Change) => void }

const OPEN_TO_CHANGE: ReadonlySet<string> = new Set(['failed', 'cancelled', 'pending'])

export function ItemsView({ runId, stepId, actions, onChange }: Props) {
  const { t } = useTranslation()
  const [filter, setFilter] = useState<'all' | 'failed'>('all')
  const found = useInfiniteQuery(itemsQuery(runId, stepId, filter === 'failed' ? 'failed' : undefined))
  const items = found.data?.pages.flatMap((page) => page.items) ?? []
  const mayChange = actions.some((action) => action.name === 'skip' && action.allowed)
  const edit = async (item: string) => {
    const params = { path: { run_id: runId, step_id: stepId }, query: { item } }
    const { input } = await read(api.GET('/v1/runs/{run_id}/steps/{step_id}/input', { params }))
    onChange({ kind: 'edit', item, config: JSON.stringify(input, null, 2) })
  }
  return (
    <Stack gap="xs">
      <SegmentedControl
        size="xs"
        value={filter}
        onChange={(value) => setFilter(value === 'failed' ? 'failed' : 'all')}
        data={[
          { value: 'all', label: t('runs.items.all') },
          { value: 'failed', label: t('runs.items.failed') },
        ]}
      />
      {found.error && <Trouble error={found.error} />}
      {found.isSuccess && items.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('runs.items.none')}
        </Text>
      )}
      {items.map((item) => (
        <Group key={item.place} wrap="nowrap" gap={8} className={classes.item}>
          <StatusIcon status={item.status} />
          <div className={classes.texts}>
            <Text size="sm" fw={550}>
              {visible(item.key)}{' '}
              <Text span size="xs" c="dimmed">
                {t(`runs.status.${item.status}`)}
              </Text>
            </Text>
            <Text size="xs" c="dimmed" className={classes.value}>
              {item.value !== undefined && visible(item.value)}
            </Text>
            {item.error && (
              <Text size="xs" c="red" className={classes.value}>
                {item.error.type}: {visibleLines(item.error.message)}
              </Text>
            )}
          </div>
          {mayChange && OPEN_TO_CHANGE.has(item.status) && (
            <Menu position="bottom-end">
              <Menu.Target>
                <ActionIcon aria-label={t('runs.items.more', { item: item.key })}>
                  <IconDots size={15} />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item onClick={() => void edit(item.key)}>{t('runs.change.edit')}</Menu.Item>
                <Menu.Item onClick={() => onChange({ kind: 'skip', item: item.key })}>
                  {t('runs.change.skip')}
                </Menu.Item>
                <Menu.Item onClick={() => onChange({ kind: 'output', item: item.key })}>
                  {t('runs.change.output')}
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          )}
        </Group>
      ))}
      <More found={found} />
    </Stack>
  )
}
