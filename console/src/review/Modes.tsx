import { useTranslation } from 'react-i18next'

import type { CommandId } from '@/keyboard/commands'
import { KeyCaps, KeysOf } from '@/kit/Keys'

import classes from './review.module.css'

const OF_PAGE = ['next-field', 'accept', 'why', 'postpone'] as const
const OF_FIELD = { accept: 'Enter', otherValues: 'ArrowDown' } as const

/** Which keys work now: those of a text field, or those of the page. */
export function Modes({ isTyping }: { isTyping: boolean }) {
  const { t } = useTranslation()
  const ofCommand = (command: CommandId, words: string) => (
    <span key={command}>
      <KeysOf command={command} /> {words}
    </span>
  )
  return (
    <div className={classes.modes} aria-hidden data-testid="mode">
      <b>{t(isTyping ? 'review.modes.field' : 'review.modes.page')}</b>
      {isTyping
        ? Object.entries(OF_FIELD).map(([name, key]) => (
            <span key={name}>
              <KeyCaps value={key} /> {t(`review.modes.${name as keyof typeof OF_FIELD}`)}
            </span>
          ))
        : OF_PAGE.map((name) => ofCommand(`review.${name}`, t(`review.modes.${name}`)))}
      {isTyping
        ? ofCommand('review.leave', t('review.modes.leave'))
        : ofCommand('general.help', t('review.modes.help'))}
    </div>
  )
}
