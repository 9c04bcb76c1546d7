import { Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'

import classes from './Page.module.css'

type Props = {
  title: string
  /** Next to the title: a count, a state. */
  badge?: ReactNode
  /** Below the title, one line. */
  description?: ReactNode
  /** Buttons at the right. */
  actions?: ReactNode
  /** The content scrolls by itself, for virtual lists and split views. */
  fills?: boolean
  children: ReactNode
}

/** A screen: its title, which the browser's tab shows too, its actions and its content. */
export function Page({ title, badge, description, actions, fills = false, children }: Props) {
  useTitle(title)
  return (
    <Stack gap="md" className={fills ? `${classes.page} ${classes.fills}` : classes.page}>
      <Group justify="space-between" align="flex-start" gap="md" className={classes.head}>
        <Stack gap={2} miw={0}>
          <Group gap="sm" wrap="nowrap">
            <Title order={1}>{title}</Title>
            {badge}
          </Group>
          {description && (
            <Text c="dimmed" size="sm">
              {description}
            </Text>
          )}
        </Stack>
        {actions && (
          <Group gap="xs" className={classes.actions}>
            {actions}
          </Group>
        )}
      </Group>
      {children}
    </Stack>
  )
}

/** Names the browser's tab. For screens that have no `Page`. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Docrail`
  }, [title])
}
