import {
  Button,
  Checkbox,
  Group,
  Input,
  MultiSelect,
  Select,
  SegmentedControl,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useId } from 'react'
import { useTranslation } from 'react-i18next'

import { useMay } from '@/api/me'
import { locale } from '@/format/locale'

import { COLUMNS, isColumn, USUAL } from './columns'
import classes from './ExportsPage.module.css'
import { styleOf } from './order'
import { monthOf } from './periods'
import { DATES, FORMATS, type Search } from './search'

const route = getRouteApi('/exports')

type Props = { search: Search; zone: string }
type Change = (changed: Partial<Search>) => void

/** What is exported, and as what. Every choice is in the page's address. */
export function OrderForm({ search, zone }: Props) {
  const { t } = useTranslation()
  const navigate = route.useNavigate()
  const change: Change = (changed) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true, resetScroll: false })
  return (
    <section className={classes.panel} aria-label={t('exports.order')}>
      <Stack gap="md">
        <Documents search={search} zone={zone} change={change} />
        <Format search={search} change={change} />
        <Columns search={search} change={change} />
      </Stack>
    </section>
  )
}

function Documents({ search, zone, change }: Props & { change: Change }) {
  const { t } = useTranslation()
  const months = { this: monthOf(zone, 0), last: monthOf(zone, -1) }
  return (
    <Stack gap="xs">
      <Field label={t('exports.which')}>
        <SegmentedControl
          fullWidth
          size="xs"
          value={search.which}
          onChange={(which) => change({ which: which === 'all' ? 'all' : undefined })}
          data={[
            { value: 'new', label: t('exports.new') },
            { value: 'all', label: t('exports.all') },
          ]}
          aria-label={t('exports.which')}
        />
      </Field>
      <Select
        label={t('exports.date')}
        value={search.of}
        allowDeselect={false}
        onChange={(of) => change({ of: DATES.find((each) => each === of) })}
        data={DATES.map((each) => ({ value: each, label: t(`exports.dates.${each}`) }))}
      />
      <Group grow gap="xs">
        <TextInput
          type="date"
          label={t('exports.since')}
          value={search.since ?? ''}
          onChange={(event) => change({ since: event.currentTarget.value || undefined })}
        />
        <TextInput
          type="date"
          label={t('exports.until')}
          value={search.until ?? ''}
          onChange={(event) => change({ until: event.currentTarget.value || undefined })}
        />
      </Group>
      <Group gap={6}>
        <Button variant="default" size="compact-xs" onClick={() => change(months.this)}>
          {t('exports.thisMonth')}
        </Button>
        <Button variant="default" size="compact-xs" onClick={() => change(months.last)}>
          {t('exports.lastMonth')}
        </Button>
        <Button variant="default" size="compact-xs" onClick={() => change({ since: undefined, until: undefined })}>
          {t('exports.anyDay')}
        </Button>
      </Group>
      <Text size="xs" c="dimmed">
        {t('exports.zone', { zone })}
      </Text>
    </Stack>
  )
}

function Format({ search, change }: { search: Search; change: Change }) {
  const { t } = useTranslation()
  const maySend = useMay('operate')
  const formats = FORMATS.filter((each) => each !== 'webhook' || maySend)
  return (
    <Stack gap="xs">
      <Field label={t('exports.format')}>
        <SegmentedControl
          fullWidth
          size="xs"
          value={search.format}
          onChange={(format) => change({ format: FORMATS.find((each) => each === format) })}
          data={formats.map((each) => ({ value: each, label: t(`exports.formats.${each}`) }))}
          aria-label={t('exports.format')}
        />
      </Field>
      {search.format === 'csv' && <CsvStyle search={search} change={change} />}
      {search.format === 'webhook' && (
        <TextInput
          type="url"
          label={t('exports.url')}
          description={t('exports.urlHint')}
          placeholder="https://"
          value={search.url ?? ''}
          onChange={(event) => change({ url: event.currentTarget.value || undefined })}
        />
      )}
    </Stack>
  )
}

function CsvStyle({ search, change }: { search: Search; change: Change }) {
  const { t } = useTranslation()
  const style = styleOf(search, locale)
  return (
    <Stack gap="xs">
      <Group grow gap="xs">
        <Select
          label={t('exports.separator')}
          value={style.separator === '\t' ? 'tab' : style.separator}
          allowDeselect={false}
          onChange={(value) => change({ separator: ([',', ';', 'tab'] as const).find((each) => each === value) })}
          data={[
            { value: ';', label: t('exports.semicolon') },
            { value: ',', label: t('exports.comma') },
            { value: 'tab', label: t('exports.tab') },
          ]}
        />
        <Select
          label={t('exports.decimal')}
          value={style.decimal}
          allowDeselect={false}
          onChange={(value) => change({ decimal: value === ',' ? ',' : '.' })}
          data={[
            { value: ',', label: '1234,56' },
            { value: '.', label: '1234.56' },
          ]}
        />
      </Group>
      <Switch
        label={t('exports.bom')}
        checked={style.bom}
        onChange={(event) => change({ bom: event.currentTarget.checked })}
      />
      <Text size="xs" c="dimmed">
        {t('exports.styleHint')}
      </Text>
    </Stack>
  )
}

function Columns({ search, change }: { search: Search; change: Change }) {
  const { t } = useTranslation()
  const texts = t('exports.columns', { returnObjects: true })
  const isUsual = search.columns.join() === USUAL.join()
  return (
    <Stack gap="xs">
      <MultiSelect
        label={t('exports.columnsLabel')}
        searchable
        value={[...search.columns]}
        onChange={(names) => change({ columns: names.length > 0 ? names.filter(isColumn) : undefined })}
        data={COLUMNS.map((name) => ({ value: name, label: texts[name] }))}
        maxDropdownHeight={260}
      />
      <Group justify="space-between" gap="xs">
        <Checkbox
          label={t('exports.lines')}
          checked={search.lines}
          onChange={(event) => change({ lines: event.currentTarget.checked || undefined })}
        />
        {!isUsual && (
          <Button variant="subtle" size="compact-xs" onClick={() => change({ columns: undefined })}>
            {t('exports.usualColumns')}
          </Button>
        )}
      </Group>
    </Stack>
  )
}

function Field({ label, children }: { label: string; children: React.ReactNode }) {
  const id = useId()
  return (
    <div role="group" aria-labelledby={id}>
      <Input.Label id={id} labelElement="div" mb={4}>
        {label}
      </Input.Label>
      {children}
    </div>
  )
}
