/** A dialog that asks before a change, with the fields that the change needs. */
import { Button, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

import { Trouble } from '@/kit/Trouble'
import { Dialog } from '@/kit/Dialog'

type Props = {
  title: string
  /** What it means, in a sentence or two. */
  means?: string
  /** The name of the button. */
  action: string
  isHarmful?: boolean
  change: { isPending: boolean; error: Error | null }
  onSubmit: () => void
  onClose: () => void
  children?: ReactNode
}

export function FormDialog({ title, means, action, isHarmful = false, change, onSubmit, onClose, children }: Props) {
  const { t } = useTranslation()
  return (
    <Dialog onClose={onClose} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!change.isPending) onSubmit()
        }}
      >
        <Stack gap="sm">
          {means && <Text size="sm">{means}</Text>}
          {children}
          {change.error !== null && <Trouble error={change.error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('app.cancel')}
            </Button>
            <Button type="submit" color={isHarmful ? 'red.8' : undefined} loading={change.isPending}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
