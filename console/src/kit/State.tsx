import { Badge, type MantineColor } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'

type Props = {
  icon: Icon
  color: MantineColor
  /** The state in words. */
  children: string
}

/** A state as icon, word and colour, so that no one needs to see the colour. */
export function State({ icon: Symbol, color, children }: Props) {
  return (
    <Badge
      color={color}
      c={readable(color)}
      miw="max-content"
      leftSection={<Symbol size={13} stroke={2} aria-hidden />}
    >
      {children}
    </Badge>
  )
}

/** Mantine's own text of a light badge is too pale on it. */
function readable(color: MantineColor): string {
  return `color-mix(in srgb, var(--mantine-color-${color}-light-color) 55%, var(--mantine-color-text))`
}
