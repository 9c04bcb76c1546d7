import { Box, Button, Checkbox, Group, Radio, Stack, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

import { useCommands } from '@/keyboard/use_commands'
import { KeysOf } from '@/kit/Keys'

import { type Fault, type Field, isObject, type Json, type Typed } from './fields'

type Props = {
  fields: readonly Field[]
  typed: Typed
  /** What is wrong with a field: as found here, or in the server's words. */
  problems: Readonly<Record<string, Fault | { said: string }>>
  isSending: boolean
  /** What the button says; by default that it sends the answer. */
  sendLabel?: string
  isReady?: boolean
  /** The form is in a dialog. */
  inDialog?: boolean
  /** Other buttons, after the one that sends. */
  children?: ReactNode
  onType: (name: string, text: string) => void
  onSend: () => void
}

/** The form of a question, from its JSON Schema. */
export function AnswerForm(props: Props) {
  const {
    fields,
    typed,
    problems,
    isSending,
    sendLabel,
    isReady = true,
    inDialog = false,
    children,
    onType,
    onSend,
  } = props
  const { t } = useTranslation()
  useCommands({ 'form.submit': isReady ? onSend : undefined }, { inDialog })
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        onSend()
      }}
    >
      <Stack gap="md">
        <AnswerFields fields={fields} typed={typed} problems={problems} onType={onType} />
        <Group>
          <Button
            type="submit"
            size="sm"
            loading={isSending}
            disabled={!isReady}
            rightSection={
              <Box visibleFrom="sm">
                <KeysOf command="form.submit" />
              </Box>
            }
          >
            {sendLabel ?? t('decide.send')}
          </Button>
          {children}
        </Group>
      </Stack>
    </form>
  )
}

/** The fields of a form, one below the other, each with what is wrong with it. */
export function AnswerFields({
  fields,
  typed,
  problems,
  onType,
}: Pick<Props, 'fields' | 'typed' | 'problems' | 'onType'>) {
  const { t } = useTranslation()
  return fields.map((field) => {
    const problem = problems[field.name]
    const error = typeof problem === 'object' ? problem.said : problem && t(`decide.faults.${problem}`)
    const text = typed[field.name] ?? field.initial
    return <FieldInput key={field.name} field={field} text={text} error={error} onType={onType} />
  })
}

type InputProps = { field: Field; text: string; error: string | undefined; onType: Props['onType'] }

function FieldInput({ field, text, error, onType }: InputProps) {
  const { t } = useTranslation()
  const shared = {
    label: field.title || t('decide.answer'),
    description: field.description || undefined,
    withAsterisk: field.isRequired,
    error,
  }
  const typing = {
    ...shared,
    value: text,
    onChange: (event: { currentTarget: { value: string } }) => onType(field.name, event.currentTarget.value),
  }
  switch (field.kind) {
    case 'choice':
      return <Choice field={field} text={text} shared={shared} onType={onType} />
    case 'choices':
      return <Choices field={field} text={text} shared={shared} onType={onType} />
    case 'number':
    case 'whole-number':
      return <TextInput {...typing} inputMode="decimal" autoComplete="off" maw={240} />
    case 'date':
      return <TextInput {...typing} type="date" maw={240} />
    case 'time':
      return <TextInput {...typing} placeholder="2026-11-30T12:00:00Z" maw={280} />
    case 'text':
      return <TextInput {...typing} autoComplete="off" />
    case 'list':
      return <Textarea {...typing} description={field.description || t('decide.onePerLine')} autosize minRows={2} />
    case 'json':
      return (
        <Textarea
          {...typing}
          description={field.description || t('decide.asJson')}
          autosize
          minRows={3}
          ff="monospace"
        />
      )
    default:
      return <Textarea {...typing} autosize minRows={2} maxRows={10} />
  }
}

type ChoiceProps = {
  field: Field
  text: string
  shared: { label: string; description: string | undefined; withAsterisk: boolean; error: string | undefined }
  onType: Props['onType']
}

/** One of a few values, all in sight: what is chosen must not hide in a list. */
function Choice({ field, text, shared, onType }: ChoiceProps) {
  const worded = useWorded()
  return (
    <Radio.Group {...shared} value={text} onChange={(value) => onType(field.name, value)}>
      <Group gap="xs" mt={6}>
        {field.choices.map((choice) => (
          <Radio.Card key={choice} value={choice} w="auto" px="sm" py={8} radius="sm" mih={40}>
            <Group gap="xs" wrap="nowrap">
              <Radio.Indicator size="xs" />
              {worded(choice)}
            </Group>
          </Radio.Card>
        ))}
      </Group>
    </Radio.Group>
  )
}

function Choices({ field, text, shared, onType }: ChoiceProps) {
  const worded = useWorded()
  const chosen = listOf(text)
  return (
    <Checkbox.Group {...shared} value={chosen} onChange={(values) => onType(field.name, `[${values.join(',')}]`)}>
      <Stack gap={8} mt={6}>
        {field.choices.map((choice) => (
          <Checkbox key={choice} value={choice} label={worded(choice)} />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}

function listOf(text: string): string[] {
  try {
    const found: unknown = JSON.parse(text || '[]')
    return Array.isArray(found) ? found.map((each) => JSON.stringify(each)) : []
  } catch {
    return []
  }
}

/** A value in words: yes and no, a text as it is, and other values as JSON. */
function useWorded(): (choice: string) => string {
  const { t } = useTranslation()
  return (choice) => {
    const value = JSON.parse(choice) as Json
    if (typeof value === 'boolean') return t(value ? 'decide.yes' : 'decide.no')
    return typeof value === 'string' ? value : isObject(value) ? JSON.stringify(value) : choice
  }
}
