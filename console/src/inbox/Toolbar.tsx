import { ActionIcon, Group, Select, TextInput } from '@mantine/core'
import { IconSearch, IconX } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'

import { useCommands } from '@/keyboard/use_commands'

import { focusRows, forgetFocus } from './focus'
import { type InboxSearch, readSearch, type Sort, SORTS } from './search'

const TYPING_MS = 250

/** The search and the order of the list. */
export function Toolbar({ search }: { search: InboxSearch }) {
  return (
    <Group justify="space-between" py="xs" gap="xs" wrap="nowrap">
      <SearchField search={search} />
      <SortField search={search} />
    </Group>
  )
}

/** The search. What is typed is shown at once, and asked for when the person pauses. */
function SearchField({ search }: { search: InboxSearch }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const field = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const go = (text: string) => {
    clearTimeout(timer.current)
    void navigate({ to: '/', search: readSearch({ ...search, text }), replace: true })
  }
  useCommands({ 'general.search': () => field.current?.focus() })
  useEffect(() => () => clearTimeout(timer.current), [])
  return (
    <TextInput
      ref={field}
      type="search"
      w={340}
      miw={0}
      aria-label={t('inbox.search')}
      placeholder={t('inbox.search')}
      leftSection={<IconSearch size={15} aria-hidden />}
      rightSection={
        search.text && (
          <ActionIcon size="sm" aria-label={t('inbox.clearSearch')} onClick={() => go('')}>
            <IconX size={14} />
          </ActionIcon>
        )
      }
      defaultValue={search.text ?? ''}
      onFocus={forgetFocus}
      onChange={({ currentTarget: { value } }) => {
        clearTimeout(timer.current)
        timer.current = setTimeout(() => go(value), TYPING_MS)
      }}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Enter') go(currentTarget.value)
        if (key !== 'Enter' && key !== 'Escape') return
        currentTarget.blur() // the list may not be there yet, and its keys work at once
        focusRows()
      }}
    />
  )
}

function SortField({ search }: { search: InboxSearch }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  return (
    <Select
      w={{ base: 150, xs: 170 }}
      flex="none"
      aria-label={t('inbox.sort')}
      data={SORTS.map((value) => ({ value, label: t(`inbox.sorts.${value}`) }))}
      value={search.sort ?? 'newest'}
      allowDeselect={false}
      onChange={(sort) => void navigate({ to: '/', search: readSearch({ ...search, sort: sort as Sort }) })}
    />
  )
}
