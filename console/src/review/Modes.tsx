import { useTranslation } from 'react-i18next'

import type { CommandId } from '@/keyboard/commands'
import { KeyCaps, KeysOf } from '@/kit/Keys'

import classes from './review.module.css'

const COMMANDS = ['next-field', 'accept', 'why'] as const
const OF_PAGE = { type: 'Tab' } as const
const OF_FIELD = { accept: 'Enter', otherValues: 'ArrowDown' } as const

/** Which keys work now: those of a text field, or those of the page. */
export function Modes({ isTyping, isAtField }: { isTyping: boolean; isAtField: boolean }) {
  const { t } = useTranslation()
  const ofCommand = (command: CommandId, words: string) => (
    <span key={command}>
      <KeysOf command={command} /> {words}
    </span>
  )
  const ofKey = ([name, key]: [string, string]) => (
    <span key={name}>
      <KeyCaps value={key} /> {t(`review.modes.${name as keyof typeof OF_PAGE | keyof typeof OF_FIELD}`)}
    </span>
  )
  return (
    <div className={classes.modes} aria-hidden data-testid="mode">
      <b>{t(isTyping ? 'review.modes.field' : 'review.modes.page')}</b>
      {!isTyping && COMMANDS.map((name) => ofCommand(`review.${name}`, t(`review.modes.${name}`)))}
      {Object.entries(isTyping ? OF_FIELD : isAtField ? OF_PAGE : {}).map(ofKey)}
      {isTyping
        ? ofCommand('review.leave', t('review.modes.leave'))
        : ofCommand('general.help', t('review.modes.help'))}
    </div>
  )
}
