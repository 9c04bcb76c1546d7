import { useTranslation } from 'react-i18next'

import { percent } from '@/format/numbers'

import type { Row } from './queries'
import classes from './Rows.module.css'

/** The confidence in words and as a number. That it is not known is a state of its own, not a low one. */
export function Confidence({ row }: { row: Row }) {
  const { t } = useTranslation()
  return (
    <span className={classes.confidence} data-certainty={row.certainty}>
      <span className={classes.word}>{t(`inbox.certainty.${row.certainty}`)}</span>
      {row.confidence !== null && <span className="numbers"> {percent(row.confidence)}</span>}
    </span>
  )
}
