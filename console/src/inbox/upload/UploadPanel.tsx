import { ActionIcon, Button, Group, Paper, Progress, ScrollArea, Text } from '@mantine/core'
import { IconChevronDown, IconChevronUp, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { useSignal } from '@/app/signal'

import { cancelAll, clear, isSettled, uploads } from './queue'
import { UploadRow } from './UploadRow'
import classes from './UploadPanel.module.css'

/** What is being sent: n of m, and a line for each document. */
export function UploadPanel() {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(true)
  const all = useSignal(uploads)
  if (all.length === 0) return null
  const settled = all.filter(isSettled).length
  const count = (stage: string) => all.filter((each) => each.stage === stage).length
  const notes = [
    [count('ready'), 'ready'],
    [all.filter((each) => each.duplicateOf).length, 'duplicates'],
    [count('failed') + count('refused'), 'failed'],
  ] as const
  return (
    <Paper className={classes.panel} shadow="lg" component="section" aria-label={t('inbox.upload.title')}>
      <Group justify="space-between" wrap="nowrap" px="sm" py={8}>
        <div role="status">
          <Text fw={600} size="sm">
            {t('inbox.upload.progress', { done: settled, count: all.length })}
          </Text>
          <Text size="xs" c="dimmed">
            {notes
              .filter(([number]) => number > 0)
              .map(([number, name]) => t(`inbox.upload.${name}`, { count: number }))
              .join(' · ')}
          </Text>
        </div>
        <Group gap={2} wrap="nowrap">
          <ActionIcon
            aria-label={t(isOpen ? 'inbox.upload.fold' : 'inbox.upload.unfold')}
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? <IconChevronDown size={16} /> : <IconChevronUp size={16} />}
          </ActionIcon>
          {settled === all.length && (
            <ActionIcon aria-label={t('inbox.upload.clear')} onClick={clear}>
              <IconX size={16} />
            </ActionIcon>
          )}
        </Group>
      </Group>
      <Progress value={(100 * settled) / all.length} size={3} radius={0} aria-label={t('inbox.upload.title')} />
      {isOpen && (
        <>
          <ScrollArea.Autosize mah={300} type="auto">
            <ul className={classes.list}>
              {all.map((each) => (
                <UploadRow key={each.id} upload={each} />
              ))}
            </ul>
          </ScrollArea.Autosize>
          {count('queued') > 0 && (
            <Group justify="flex-end" p={6}>
              <Button variant="subtle" color="gray" onClick={cancelAll}>
                {t('inbox.upload.cancelAll')}
              </Button>
            </Group>
          )}
        </>
      )}
    </Paper>
  )
}
