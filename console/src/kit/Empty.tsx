import { Stack, Text, ThemeIcon, Title } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'
import type { ReactNode } from 'react'

type Props = {
  icon: Icon
  title: string
  /** What would be here, and how it gets here. */
  children?: ReactNode
  /** One button: what to do next. */
  action?: ReactNode
  /** It is the whole page: its title is the page's heading. */
  isPage?: boolean
}

/** What a list or a page shows when it has nothing: what it is for, and the next step. */
export function Empty({ icon: Symbol, title, children, action, isPage = false }: Props) {
  return (
    <Stack align="center" gap="xs" py={56} px="md" maw={460} mx="auto" ta="center">
      <ThemeIcon size={44} radius="xl" variant="light" color="gray" aria-hidden>
        <Symbol size={22} stroke={1.6} />
      </ThemeIcon>
      <Title order={isPage ? 1 : 2} size="h2">
        {title}
      </Title>
      {children && (
        <Text c="dimmed" size="sm">
          {children}
        </Text>
      )}
      {action && <div style={{ marginTop: 8 }}>{action}</div>}
    </Stack>
  )
}
