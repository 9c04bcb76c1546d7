/** The filters of the list. Each one that is set is a chip, so that none hides. */
import { Button, Group, Menu, Pill, TextInput } from '@mantine/core'
import { IconFilter } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { api, read } from '@/api/client'
import { keys } from '@/api/keys'

import { type ListSearch, PERIODS, RUN_STATUSES } from '../search'
import { StatusIcon } from '../states'

type Props = { search: ListSearch; onChange: (search: ListSearch) => void }

export function Filters({ search, onChange }: Props) {
  const { t } = useTranslation()
  const [document, setDocument] = useState('')
  const definitions = useQuery({
    queryKey: keys.definitions.list({ of: 'filter' }),
    queryFn: () => read(api.GET('/v1/definitions', { params: { query: { limit: 200 } } })),
  })
  const without = (...names: (keyof ListSearch)[]) =>
    onChange(Object.fromEntries(Object.entries(search).filter(([name]) => !names.includes(name as keyof ListSearch))))
  return (
    <Group gap="xs">
      <Menu position="bottom-start" shadow="md" width={220}>
        <Menu.Target>
          <Button variant="default" leftSection={<IconFilter size={14} aria-hidden />}>
            {t('runs.filter.status')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {RUN_STATUSES.map((status) => (
            <Menu.Item
              key={status}
              leftSection={<StatusIcon status={status} />}
              onClick={() => onChange({ ...search, status })}
            >
              {t(`runs.status.${status}`)}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={() => onChange({ ...search, overdue: true })}>{t('runs.overdue')}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Menu position="bottom-start" shadow="md" width={260}>
        <Menu.Target>
          <Button variant="default">{t('runs.filter.definition')}</Button>
        </Menu.Target>
        <Menu.Dropdown mah={360} style={{ overflow: 'auto' }}>
          {definitions.data?.definitions.map(({ definition_id: definition }) => (
            <Menu.Item key={definition} onClick={() => onChange({ ...search, definition })}>
              {definition}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Menu position="bottom-start" shadow="md" width={240}>
        <Menu.Target>
          <Button variant="default">{t('runs.filter.time')}</Button>
        </Menu.Target>
        <Menu.Dropdown>
          {(['started', 'ended'] as const).map((time) => [
            <Menu.Label key={time}>{t(`runs.filter.${time}`)}</Menu.Label>,
            ...PERIODS.map((within) => (
              <Menu.Item key={`${time} ${within}`} onClick={() => onChange({ ...search, time, within })}>
                {t(`runs.period.${within}`)}
              </Menu.Item>
            )),
          ])}
        </Menu.Dropdown>
      </Menu>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (document.trim()) onChange({ ...search, document: document.trim() })
          setDocument('')
        }}
      >
        <TextInput
          size="xs"
          placeholder={t('runs.filter.document')}
          aria-label={t('runs.filter.document')}
          value={document}
          onChange={(event) => setDocument(event.currentTarget.value)}
        />
      </form>
      <Pill.Group gap={6}>
        {search.status && (
          <Chip
            text={`${t('runs.filter.status')}: ${t(`runs.status.${search.status}`)}`}
            onRemove={() => without('status')}
          />
        )}
        {search.overdue && <Chip text={t('runs.overdue')} onRemove={() => without('overdue')} />}
        {search.definition && (
          <Chip text={`${t('runs.filter.definition')}: ${search.definition}`} onRemove={() => without('definition')} />
        )}
        {search.document && (
          <Chip text={`${t('runs.document')}: ${search.document}`} onRemove={() => without('document')} />
        )}
        {search.within && search.time && (
          <Chip
            text={t('runs.filter.within', {
              time: t(`runs.filter.${search.time}`),
              period: t(`runs.period.${search.within}`),
            })}
            onRemove={() => without('time', 'within')}
          />
        )}
      </Pill.Group>
    </Group>
  )
}

function Chip({ text, onRemove }: { text: string; onRemove: () => void }) {
  const { t } = useTranslation()
  return (
    <Pill
      withRemoveButton
      onRemove={onRemove}
      removeButtonProps={{ 'aria-label': t('runs.filter.remove', { filter: text }), 'aria-hidden': false, tabIndex: 0 }}
    >
      {text}
    </Pill>
  )
}
