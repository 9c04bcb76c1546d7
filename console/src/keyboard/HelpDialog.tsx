import { Anchor, Group, Modal, SimpleGrid, Stack, Switch, Text, Title, UnstyledButton } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { signal, useSignal } from '@/app/signal'
import { KeyCaps } from '@/kit/Keys'

import { bindings, holderOf, keysOf, withKeys } from './bindings'
import { type CommandId, commandsOf, type Section, SECTIONS } from './commands'
import classes from './HelpDialog.module.css'
import { keyOf } from './keys'
import { capsOf, nameOf } from './names'

export const helpOpened = signal(false)

/** Every shortcut by section. A click on one waits for another key. */
export function HelpDialog() {
  const { t } = useTranslation()
  const opened = useSignal(helpOpened)
  const chosen = useSignal(bindings)
  const [waiting, setWaiting] = useState<CommandId>()
  const [taken, setTaken] = useState('')
  useNewKey(waiting, (key) => {
    if (!waiting) return
    const holder = holderOf(key, waiting)
    setTaken(holder ? t('keyboard.taken', { key: capsOf(key, t).join('+'), command: nameOf(holder, t) }) : '')
    if (!holder) bindings.set(withKeys(chosen, waiting, [key]))
    setWaiting(undefined)
  })
  const close = () => {
    setWaiting(undefined)
    setTaken('')
    helpOpened.set(false)
  }
  return (
    <Modal opened={opened} onClose={close} title={t('keyboard.title')} size="xl" closeOnEscape={!waiting}>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {t('keyboard.hint')}
        </Text>
        <Switch
          checked={chosen.singleKeys}
          onChange={(event) => bindings.set({ ...chosen, singleKeys: event.currentTarget.checked })}
          label={t('keyboard.singleKeys')}
          description={t('keyboard.singleKeysHint')}
        />
        <Text size="sm" c="red" role="status" mih={20}>
          {taken}
        </Text>
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xl" verticalSpacing="lg">
          {SECTIONS.map((section) => (
            <Shortcuts key={section} section={section} waiting={waiting} onChange={setWaiting} />
          ))}
        </SimpleGrid>
        {Object.keys(chosen.changed).length > 0 && (
          <Anchor component="button" size="sm" onClick={() => bindings.set({ ...chosen, changed: {} })}>
            {t('keyboard.resetAll')}
          </Anchor>
        )}
      </Stack>
    </Modal>
  )
}

type ShortcutsProps = { section: Section; waiting: CommandId | undefined; onChange: (id: CommandId) => void }

function Shortcuts({ section, waiting, onChange }: ShortcutsProps) {
  const { t } = useTranslation()
  const chosen = useSignal(bindings)
  return (
    <section>
      <Title order={3} mb={6}>
        {t(`keyboard.sections.${section}`)}
      </Title>
      {commandsOf(section).map((id) => {
        const keys = keysOf(id, chosen)
        const name = nameOf(id, t)
        return (
          <UnstyledButton
            key={id}
            className={classes.row}
            onClick={() => onChange(id)}
            title={t('keyboard.change', { command: name })}
          >
            <Text size="sm">{name}</Text>
            {waiting === id ? (
              <Text size="xs" c="ink">
                {t('keyboard.press')}
              </Text>
            ) : (
              <Group gap={8} wrap="nowrap">
                {keys.length === 0 && (
                  <Text size="xs" c="dimmed">
                    {t('keyboard.none')}
                  </Text>
                )}
                <Caps keys={keys} />
              </Group>
            )}
          </UnstyledButton>
        )
      })}
    </section>
  )
}

const MOST_CAPS = 3

/** The keys of a command; of many, such as the digits, the first and the last one. */
function Caps({ keys }: { keys: readonly string[] }) {
  const [first = '', ...others] = keys
  if (keys.length <= MOST_CAPS) return keys.map((key) => <KeyCaps key={key} value={key} />)
  return (
    <>
      <KeyCaps value={first} />–<KeyCaps value={others.at(-1) ?? ''} />
    </>
  )
}

/** Calls `found` with the next key that is pressed, before anything else sees it. */
function useNewKey(waiting: CommandId | undefined, found: (key: string) => void): void {
  useEffect(() => {
    if (!waiting) return undefined
    const take = (event: KeyboardEvent) => {
      const key = keyOf(event)
      if (key === undefined) return
      event.preventDefault()
      event.stopPropagation()
      found(key)
    }
    addEventListener('keydown', take, { capture: true })
    return () => removeEventListener('keydown', take, { capture: true })
  })
}
