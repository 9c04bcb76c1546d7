import { ActionIcon, Loader, Text, TextInput, Tooltip } from '@mantine/core'
import { IconLock, IconLockOpen } from '@tabler/icons-react'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { useMe } from '@/api/me'
import { isProblem } from '@/api/problem'
import { useSignal } from '@/app/signal'
import { recent } from '@/format/dates'
import { visible } from '@/format/text'
import { bindings, keysOf } from '@/keyboard/bindings'
import { KeyCaps } from '@/kit/Keys'
import { problemText } from '@/kit/problem_text'
import { reasonWords } from '@/texts/reasons'

import { Certain } from './Certain'
import { type Choice, choicesOf, type Field, type Place } from './model'
import { Refused } from './Refused'
import classes from './review.module.css'
import { typedText } from './typing'
import type { Entry } from './use_saving'
import { Why } from './Why'
import { nameOf } from './words'

type Props = {
  field: Field
  entry: Entry | undefined
  /** The field that is looked at: it shows all that is known of it. */
  isCurrent: boolean
  isDoubt: boolean
  isChanged: boolean
  readOnly: boolean
  showsWhy: boolean
  onFocus: () => void
  onType: (text: string) => void
  /** The field is left with something typed. */
  onLeave: () => void
  /** Enter: accept what is there, and go on. */
  onAccept: () => void
  onChoose: (text: string, place: Place | undefined) => void
  onUnlock: () => void
  onWhy: () => void
  /** Drops what is typed for what the server has. */
  onForget: () => void
}

/** One field: its value, how certain it is, and, while it is looked at, other values and the reasons. */
export function FieldRow(props: Props) {
  const { field, entry, isCurrent, isDoubt, isChanged, readOnly, showsWhy } = props
  const { t } = useTranslation()
  const id = useId()
  const shownAs = `${isCurrent} ${entry?.state}`
  const [choice, setChoice] = useState<{ shownAs: string; index: number }>()
  const chosen = choice?.shownAs === shownAs ? choice.index : undefined
  const setChosen = (index: number | undefined) => setChoice(index === undefined ? undefined : { shownAs, index })
  const row = useRef<HTMLDivElement>(null)
  const choices = choicesOf(field, entry)
  const label = nameOf('fields', field.name, t)
  const text = entry?.text ?? visible(typedText(field.name, field.value))

  useEffect(() => {
    if (isCurrent) row.current?.scrollIntoView({ block: 'nearest' })
  }, [isCurrent])

  const take = ({ value, place }: Choice) => props.onChoose(typedText(field.name, value), place)
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const taken = chosen === undefined ? undefined : choices[chosen]
    if (event.key === 'ArrowDown' && choices.length) setChosen(Math.min((chosen ?? -1) + 1, choices.length - 1))
    else if (event.key === 'ArrowUp' && chosen !== undefined) setChosen(chosen > 0 ? chosen - 1 : undefined)
    else if (event.key === 'Enter' && !event.repeat) (taken ? () => take(taken) : props.onAccept)()
    else if (event.key === 'Escape' && chosen !== undefined) setChosen(undefined)
    else return
    event.preventDefault()
  }

  return (
    <div
      ref={row}
      className={classes.field}
      data-field={field.name}
      data-current={isCurrent || undefined}
      data-doubt={isDoubt || undefined}
      data-changed={isChanged || undefined}
      tabIndex={-1}
    >
      <label className={classes.label} htmlFor={id}>
        {label}
      </label>
      <TextInput
        id={id}
        size="xs"
        className={classes.input}
        value={text}
        readOnly={readOnly}
        autoComplete="off"
        spellCheck={false}
        role={choices.length ? 'combobox' : undefined}
        aria-expanded={choices.length ? isCurrent : undefined}
        aria-controls={choices.length && isCurrent ? `${id}-choices` : undefined}
        aria-activedescendant={chosen === undefined ? undefined : `${id}-${chosen}`}
        aria-describedby={isCurrent ? `${id}-about` : undefined}
        error={entry?.state === 'wrong' || entry?.state === 'asks'}
        placeholder={readOnly ? '–' : t('review.empty')}
        rightSection={entry?.state === 'saving' ? <Loader size={12} /> : null}
        onFocus={props.onFocus}
        onBlur={() => entry?.state === 'typed' && props.onLeave()}
        onChange={(event) => props.onType(event.currentTarget.value)}
        onKeyDown={onKey}
      />
      <Certain field={field} />
      <div className={classes.about} id={`${id}-about`}>
        <Message entry={entry} />
        {entry?.text !== undefined && <Theirs field={field} typed={entry.text} onTake={props.onForget} />}
        {isCurrent && choices.length > 0 && (
          <div
            className={classes.choices}
            id={`${id}-choices`}
            role="listbox"
            aria-label={t('review.otherValues', { field: label })}
          >
            {choices.map((each, index) => (
              <Choose
                key={each.value}
                id={`${id}-${index}`}
                index={index}
                field={field.name}
                choice={each}
                isChosen={index === chosen}
                disabled={readOnly}
                onTake={() => take(each)}
              />
            ))}
          </div>
        )}
        {isCurrent && (
          <Origin field={field} readOnly={readOnly} showsWhy={showsWhy} onWhy={props.onWhy} onUnlock={props.onUnlock} />
        )}
        {isCurrent && showsWhy && <Why field={field} />}
      </div>
    </div>
  )
}

type ChooseProps = {
  id: string
  index: number
  field: string
  choice: Choice
  isChosen: boolean
  disabled: boolean
  onTake: () => void
}

function Choose({ id, index, field, choice, isChosen, disabled, onTake }: ChooseProps) {
  const { t } = useTranslation()
  const key = keysOf('review.take-value', useSignal(bindings))[index]
  return (
    <button
      type="button"
      id={id}
      role="option"
      aria-selected={isChosen}
      tabIndex={-1}
      disabled={disabled}
      className={classes.choice}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onTake}
    >
      {key !== undefined && !disabled && (
        <span className={classes.choiceKey} aria-hidden>
          <KeyCaps value={key} />
        </span>
      )}
      <bdi>{visible(typedText(field, choice.value))}</bdi>
      {choice.source !== undefined && <span className={classes.source}>{nameOf('sources', choice.source, t)}</span>}
    </button>
  )
}

/** What became of what was typed. */
function Message({ entry }: { entry: Entry | undefined }) {
  const { t, i18n } = useTranslation()
  if (!entry) return null
  if (entry.state === 'asks') {
    return (
      <Text size="xs" c="orange" role="alert">
        {t('review.twoReadings', { text: entry.text })}
      </Text>
    )
  }
  if (entry.state === 'wrong' && entry.problem) return <Refused problem={entry.problem} />
  if (entry.state === 'waits') {
    return (
      <Text size="xs" c="orange" role="status">
        {isProblem(entry.problem, 'claim-lost') ? problemText(entry.problem, t).detail : t('review.waits')}
      </Text>
    )
  }
  if (entry.state === 'saved' && entry.because) {
    const { title, detail } = reasonWords(entry.because, t, i18n.language, 'review.grounds')
    return (
      <Text size="xs" c="dimmed" role="status" title={visible(detail)}>
        {t('review.because', { because: visible(title) })}
      </Text>
    )
  }
  return null
}

type TheirsProps = { field: Field; typed: string; onTake: () => void }

/** What someone else wrote into the field, while another text is typed there: neither takes the place of the other. */
function Theirs({ field, typed, onTake }: TheirsProps) {
  const { t } = useTranslation()
  const me = useMe()
  const theirs = visible(typedText(field.name, field.value))
  if (!field.lock || field.lock.by === me?.name || theirs === typed) return null
  return (
    <Text size="xs" c="orange" role="status">
      {t('review.theirs', { name: visible(field.lock.by), value: theirs || '–' })}{' '}
      <button type="button" className={classes.link} onMouseDown={(event) => event.preventDefault()} onClick={onTake}>
        {t('review.takeTheirs')}
      </button>
    </Text>
  )
}

type OriginProps = { field: Field; readOnly: boolean; showsWhy: boolean; onWhy: () => void; onUnlock: () => void }

/** Where the value comes from: a source, or the person who locked it and when. */
function Origin({ field, readOnly, showsWhy, onWhy, onUnlock }: OriginProps) {
  const { t } = useTranslation()
  const { lock } = field
  return (
    <div className={classes.origin}>
      {lock ? (
        <>
          <IconLock size={13} stroke={1.9} aria-hidden />
          <Text size="xs" c="dimmed">
            {t('review.lockedBy', { name: visible(lock.by), time: recent(lock.at) })}
            {lock.why && ` · ${visible(lock.why)}`}
          </Text>
          {!readOnly && (
            <Tooltip label={t('review.unlock')}>
              <ActionIcon
                size="xs"
                aria-label={t('review.unlock')}
                onMouseDown={(event) => event.preventDefault()}
                onClick={onUnlock}
              >
                <IconLockOpen size={13} stroke={1.9} />
              </ActionIcon>
            </Tooltip>
          )}
        </>
      ) : (
        <Text size="xs" c="dimmed">
          {field.source ? nameOf('sources', field.source, t) : t('review.notFound')}
          {field.page !== null && field.value !== null && ` · ${t('review.onPage', { page: field.page })}`}
        </Text>
      )}
      {field.explanation.length > 0 && (
        <button
          type="button"
          className={classes.link}
          aria-expanded={showsWhy}
          onMouseDown={(event) => event.preventDefault()}
          onClick={onWhy}
        >
          {t('review.why')}
        </button>
      )}
    </div>
  )
}
