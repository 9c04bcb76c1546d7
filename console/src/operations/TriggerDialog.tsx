/** Creates a trigger: what it starts or uploads, and when. What the server refuses is shown at the field that it is about. */
import { Checkbox, Group, NumberInput, Select, SegmentedControl, Text, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'
import { isProblem } from '@/api/problem'
import { AnswerFields } from '@/decide/AnswerForm'
import { answerOf, type Fault, type Field, type Json, type Typed } from '@/decide/fields'
import { useKept } from '@/drafts/drafts'
import { clock } from '@/format/dates'
import { Trouble } from '@/kit/Trouble'
import { inputFields } from '@/runs/list/inputs'

import { FormDialog } from './FormDialog'
import { createTrigger, useChange } from './queries'
import { FIRST_TIMES, orderOfTimes, RHYTHMS, type Times, weekdays } from './rhythms'

const WORKS = ['run', 'folder', 'mailbox'] as const
type Work = (typeof WORKS)[number]

/** A text of the order, by its path there. */
type Path = 'name' | 'folder' | 'source' | `mailbox.${'host' | 'user' | 'secret' | 'folder' | 'senders' | 'move_to'}`
type Texts = Readonly<Partial<Record<Path, string>>>
/** What is wrong, by the path of the part: in the server's words, or as found here. */
type Faults = Readonly<Record<string, { said: string } | Fault>>

/** All that the person chooses and types. */
type Kept = {
  work: Work
  times: Times
  texts: Texts
  definition: string | null
  inputs: Typed
  isBatch: boolean
}
const FIRST: Kept = {
  work: 'run',
  times: FIRST_TIMES,
  texts: { 'mailbox.folder': 'INBOX' },
  definition: null,
  inputs: {},
  isBatch: false,
}

const NO_FIELDS: Field[] = []
/** Inputs that each document brings itself. */
const BROUGHT = new Set(['document_id', 'sla_hours'])

export function TriggerDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const [kept, keep, drop] = useKept({ document: 'trigger', field: 'trigger' }, FIRST)
  const { work, times, texts, definition, inputs, isBatch } = kept
  const put = (changed: Partial<Kept>) => keep({ ...kept, ...changed })
  const [faults, setFaults] = useState<Faults>({})
  const known = useQuery({
    queryKey: keys.definitions.list({ of: 'filter' }),
    queryFn: () => read(api.GET('/v1/definitions', { params: { query: { limit: 200 } } })),
  })
  const fields = useInputs(definition, work)
  const change = useChange(createTrigger, keys.triggers.all)

  const said = (path: string) => {
    const fault = faults[path]
    return typeof fault === 'object' ? fault.said : fault && t(`decide.faults.${fault}`)
  }
  const forget = (...paths: string[]) =>
    setFaults((before) => Object.fromEntries(Object.entries(before).filter(([path]) => !paths.includes(path))))
  const text = (path: Path) => ({
    label: t(`operations.triggers.fields.${path}`),
    value: texts[path] ?? '',
    error: said(path),
    autoComplete: 'off',
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => {
      put({ texts: { ...texts, [path]: currentTarget.value } })
      forget(path)
    },
  })
  const send = () => {
    const answer = answerOf(fields.data, inputs)
    const found = { ...withPrefix(answer.problems), ...(work === 'run' && !definition && { definition: 'required' }) }
    setFaults(found as Faults)
    if (Object.keys(found).length > 0) return
    const order = orderOf(work, texts, definition, answer.value as Record<string, unknown>, times, isBatch)
    change.mutate(order, { onSuccess: close, onError: (error) => setFaults(faultsOf(error, t)) })
  }
  const close = () => {
    drop()
    onClose()
  }
  const isSaid = Object.keys(faults).length > 0
  return (
    <FormDialog
      title={t('operations.triggers.create')}
      action={t('operations.triggers.create')}
      change={{ isPending: change.isPending, error: isSaid ? null : change.error }}
      onClose={close}
      onSubmit={send}
    >
      <TextInput
        {...text('name')}
        description={t('operations.triggers.nameHint')}
        maxLength={48}
        required
        data-autofocus
      />
      <SegmentedControl
        fullWidth
        size="xs"
        value={work}
        onChange={(value) => {
          put({ work: WORKS.find((each) => each === value) ?? 'run' })
          setFaults({})
        }}
        data={WORKS.map((value) => ({ value, label: t(`operations.triggers.works.${value}`) }))}
        aria-label={t('operations.triggers.does')}
      />
      {work === 'folder' && (
        <TextInput {...text('folder')} description={t('operations.triggers.folderHint')} placeholder="scans" required />
      )}
      {work === 'mailbox' && (
        <>
          <Group grow align="flex-start" gap="xs">
            <TextInput {...text('mailbox.host')} placeholder="imap.example.com" required />
            <TextInput {...text('mailbox.user')} placeholder="invoices@example.com" required />
          </Group>
          <TextInput
            {...text('mailbox.secret')}
            description={t('operations.triggers.secretHint')}
            placeholder="mail_password"
            required
          />
          <Group grow align="flex-start" gap="xs">
            <TextInput {...text('mailbox.folder')} required />
            <TextInput {...text('mailbox.move_to')} placeholder={t('operations.triggers.stays')} />
          </Group>
          <Textarea
            {...text('mailbox.senders')}
            description={t('operations.triggers.sendersHint')}
            placeholder="@example.com"
            autosize
            minRows={1}
          />
        </>
      )}
      <Select
        label={t('runs.filter.definition')}
        description={work === 'run' ? undefined : t('operations.triggers.definitionHint')}
        placeholder={work === 'run' ? undefined : t('operations.triggers.routedHint')}
        data={known.data?.definitions.map((each) => each.definition_id) ?? []}
        value={definition}
        onChange={(value) => {
          put({ definition: value, inputs: {} })
          setFaults({})
        }}
        error={said('definition')}
        withAsterisk={work === 'run'}
        searchable
        clearable={work !== 'run'}
        clearButtonProps={{ 'aria-label': t('operations.triggers.noDefinition') }}
      />
      {work !== 'run' && definition === null && (
        <TextInput {...text('source')} description={t('operations.triggers.sourceHint')} />
      )}
      {work !== 'run' && (
        <Checkbox
          label={t('operations.triggers.batch')}
          description={t('operations.triggers.batchHint')}
          checked={isBatch}
          error={said('batch')}
          onChange={(event) => put({ isBatch: event.currentTarget.checked })}
        />
      )}
      {(fields.error ?? known.error) && <Trouble error={fields.error ?? known.error} />}
      <AnswerFields
        fields={fields.data}
        typed={inputs}
        problems={withoutPrefix(faults)}
        onType={(name, value) => {
          put({ inputs: { ...inputs, [name]: value } })
          forget(INPUTS + name)
        }}
      />
      <When
        times={times}
        error={said('cron') ?? said('every_seconds')}
        onChange={(changed) => {
          put({ times: { ...times, ...changed } })
          forget('cron', 'every_seconds')
        }}
      />
    </FormDialog>
  )
}

type WhenProps = { times: Times; error: string | undefined; onChange: (changed: Partial<Times>) => void }

function When({ times, error, onChange }: WhenProps) {
  const { t, i18n } = useTranslation()
  const { rhythm } = times
  const hasTime = rhythm !== 'minutes' && rhythm !== 'cron'
  return (
    <>
      <Group grow align="flex-start" gap="xs">
        <Select
          label={t('operations.triggers.when')}
          data={RHYTHMS.map((value) => ({ value, label: t(`operations.triggers.rhythms.${value}`) }))}
          value={rhythm}
          onChange={(value) => onChange({ rhythm: RHYTHMS.find((each) => each === value) ?? rhythm })}
          error={hasTime && error}
          allowDeselect={false}
        />
        {rhythm === 'weekly' && (
          <Select
            label={t('operations.triggers.weekday')}
            data={weekdays(i18n.language).map((label, day) => ({ value: String(day), label }))}
            value={times.weekday}
            onChange={(weekday) => weekday && onChange({ weekday })}
            allowDeselect={false}
          />
        )}
        {hasTime && (
          <TextInput
            type="time"
            label={t('operations.triggers.time')}
            value={times.time}
            onChange={(event) => onChange({ time: event.currentTarget.value })}
            required
          />
        )}
        {rhythm === 'minutes' && (
          <NumberInput
            label={t('operations.triggers.minutes')}
            value={times.minutes}
            onChange={(value) => onChange({ minutes: Number(value) })}
            error={error}
            min={1}
            required
          />
        )}
        {rhythm === 'cron' && (
          <TextInput
            label={t('operations.triggers.rhythms.cron')}
            value={times.cron}
            onChange={(event) => onChange({ cron: event.currentTarget.value })}
            placeholder="0 6 * * 1-5"
            error={error}
            required
          />
        )}
      </Group>
      {rhythm !== 'minutes' && (
        <Text size="xs" c="dimmed">
          {hasTime && times.time
            ? t('operations.triggers.utcIs', { time: times.time, here: clock(today(times.time)) })
            : t('operations.triggers.cronHint')}
        </Text>
      )}
    </>
  )
}

/** The instant of a time of today in UTC. */
function today(time: string): string {
  return `${new Date().toISOString().slice(0, 11)}${time}:00Z`
}

/** The fields of the inputs that the trigger gives: what a document brings, and whatever may come later, is not asked for. */
function useInputs(definition: string | null, work: Work): { data: Field[]; error: Error | null } {
  const stored = useQuery({
    queryKey: keys.definitions.one(definition ?? '', 'inputs', 'stable'),
    queryFn: () => {
      const path = { definition_id: definition ?? '' }
      return read(api.GET('/v1/definitions/{definition_id}', { params: { path } }))
    },
    enabled: definition !== null,
  })
  const body = stored.data?.body as Json | undefined
  const data = useMemo(() => {
    const all = body === undefined ? NO_FIELDS : inputFields(body)
    if (work === 'run') return all
    return all.filter(({ name }) => !BROUGHT.has(name)).map((field) => ({ ...field, isRequired: false }))
  }, [body, work])
  return { data, error: stored.error }
}

function orderOf(
  work: Work,
  texts: Texts,
  definition: string | null,
  inputs: Record<string, unknown>,
  times: Times,
  isBatch: boolean,
): Model<'TriggerOrder'> {
  const written = (path: Path) => texts[path]?.trim() ?? ''
  return {
    name: written('name'),
    definition,
    inputs,
    ...orderOfTimes(times),
    ...(work !== 'run' && { batch: isBatch }),
    ...(work === 'folder' && { folder: written('folder') }),
    ...(work === 'mailbox' && {
      mailbox: {
        host: written('mailbox.host'),
        user: written('mailbox.user'),
        secret: written('mailbox.secret'),
        folder: written('mailbox.folder'),
        senders: written('mailbox.senders').split(/\s+/).filter(Boolean),
        move_to: written('mailbox.move_to') || null,
      },
    }),
    ...(work !== 'run' && definition === null && { source: written('source') }),
  }
}

const INPUTS = 'inputs.'

/** The server's problems by the part that they are about; those of none of the fields are shown below the form. */
function faultsOf(error: unknown, t: TFunction): Faults {
  if (isProblem(error, 'not-found')) return { definition: { said: error.message } }
  if (isProblem(error, 'key-conflict')) return { name: { said: t('operations.triggers.taken') } }
  if (!isProblem(error, 'invalid-input')) return {}
  const found = (error.body.problems ?? []) as { path: string; message: string }[]
  return Object.fromEntries(found.map(({ path, message }) => [partOf(path), { said: message }]))
}

/** `inputs.weeks.0` is about the field of `weeks`, `mailbox.senders.2` about the one of the senders. */
function partOf(path: string): string {
  const [first = '', second] = path.split('.')
  return (first === 'inputs' || first === 'mailbox') && second !== undefined ? `${first}.${second}` : first
}

function withPrefix(problems: Record<string, Fault>): Record<string, Fault> {
  return Object.fromEntries(Object.entries(problems).map(([name, fault]) => [INPUTS + name, fault]))
}

function withoutPrefix(faults: Faults): Faults {
  const ofInputs = Object.entries(faults).filter(([path]) => path.startsWith(INPUTS))
  return Object.fromEntries(ofInputs.map(([path, fault]) => [path.slice(INPUTS.length), fault]))
}
