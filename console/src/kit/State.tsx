import { Badge, type MantineColor } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'

type Props = {
  icon: Icon
  color: MantineColor
  /** The state in words. */
  children: string
}

/** A state as icon, word and colour: no state is told apart by its colour alone. */
export function State({ icon: Symbol, color, children }: Props) {
  return (
    <Badge color={color} leftSection={<Symbol size={13} stroke={2} aria-hidden />}>
      {children}
    </Badge>
  )
}
