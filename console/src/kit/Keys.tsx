import { Group, Kbd } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { useSignal } from '@/app/signal'
import { bindings, keysOf } from '@/keyboard/bindings'
import type { CommandId } from '@/keyboard/commands'
import { capsOf } from '@/keyboard/names'

/** A key as keycaps. */
export function KeyCaps({ value }: { value: string }) {
  const { t } = useTranslation()
  return (
    <Group gap={3} wrap="nowrap" component="span">
      {capsOf(value, t).map((part) => (
        <Kbd key={part} size="xs">
          {part}
        </Kbd>
      ))}
    </Group>
  )
}

/** The keys that run a command now, for hints in and next to buttons, whose names they are no part of. */
export function KeysOf({ command }: { command: CommandId }) {
  const [first] = keysOf(command, useSignal(bindings))
  return (
    first && (
      <span aria-hidden>
        <KeyCaps value={first} />
      </span>
    )
  )
}
