import { Group, Kbd } from '@mantine/core'

import { useSignal } from '@/app/signal'
import { bindings, keysOf } from '@/keyboard/bindings'
import type { CommandId } from '@/keyboard/commands'
import { shownParts } from '@/keyboard/keys'

const IS_MAC = /Mac|iP(hone|ad)/.test(navigator.platform)

/** A key as keycaps. */
export function KeyCaps({ value }: { value: string }) {
  return (
    <Group gap={3} wrap="nowrap" component="span">
      {shownParts(value, IS_MAC).map((part) => (
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
