import { Group, type MantineColor, Text } from '@mantine/core'
import type { ReactNode } from 'react'

import classes from './Banner.module.css'

type Props = {
  color: MantineColor
  /** What is the case, in one sentence. */
  children: string
  /** What it means for the person. */
  hint?: string
  action?: ReactNode
}

/** A line above every page. For `app/Banners.tsx`. */
export function Banner({ color, children, hint, action }: Props) {
  return (
    <Group className={classes.banner} gap="md" justify="space-between" bg={`var(--mantine-color-${color}-light)`}>
      <Text size="sm">
        <b>{children}</b> {hint}
      </Text>
      {action}
    </Group>
  )
}
