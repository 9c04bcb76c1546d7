/** What a definition says of one step, as it is stored: every default is written out. */
import { ActionIcon, Group, Paper, ScrollArea, Text, Title } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

import { useCommands } from '@/keyboard/use_commands'
import { Name } from '@/kit/Values'

import classes from './definitions.module.css'

export function StepCard({ step, onClose }: { step: Record<string, unknown>; onClose: () => void }) {
  const { t } = useTranslation()
  useCommands({ 'run.close': onClose })
  const { id, title, ...rest } = step
  return (
    <Paper
      component="aside"
      aria-label={t('runs.step.label', { step: String(id) })}
      withBorder
      shadow="md"
      radius="md"
      p="md"
      className={classes.card}
    >
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div style={{ minWidth: 0 }}>
          <Title order={3}>{title ? <Name value={String(title)} most={80} /> : String(id)}</Title>
          <Text size="xs" c="dimmed" ff="monospace">
            {String(id)}
          </Text>
        </div>
        <ActionIcon onClick={onClose} aria-label={t('runs.step.close')}>
          <IconX size={16} aria-hidden />
        </ActionIcon>
      </Group>
      <ScrollArea className={classes.config} viewportProps={{ tabIndex: 0, 'aria-label': t('definitions.config') }}>
        <pre className={classes.source}>{JSON.stringify(rest, null, 2)}</pre>
      </ScrollArea>
    </Paper>
  )
}
