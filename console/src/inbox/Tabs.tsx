import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { count } from '@/format/numbers'
import { useCurrentInView } from '@/kit/in_view'
import classes from '@/kit/tabs.module.css'

import { type InboxSearch, readSearch, type Tab, TABS } from './search'
import { LOOKS } from './status'

type Props = { search: InboxSearch; counts: Model<'DocumentCounts'> | undefined }

/** The statuses with their counts. Each is a link, so that a tab can be opened next to another one. */
export function Tabs({ search, counts }: Props) {
  const { t } = useTranslation()
  const current = search.status ?? 'attention'
  const row = useCurrentInView<HTMLElement>(current)
  return (
    <nav ref={row} className={classes.tabs} aria-label={t('inbox.tabs.label')}>
      {TABS.map((tab) => {
        const number = numberOf(tab, counts)
        const Symbol = tab === 'all' ? undefined : LOOKS[tab].icon
        return (
          <Link
            key={tab}
            to="/"
            search={readSearch({ ...search, status: tab })}
            activeOptions={{ exact: true }} // otherwise the first tab, which has no search, is current on all others too
            className={classes.tab}
            data-active={tab === current || undefined}
            data-alarm={(tab === 'failed' && number > 0) || undefined}
            aria-current={tab === current ? 'page' : undefined}
          >
            {Symbol && <Symbol size={15} stroke={1.8} aria-hidden />}
            <span>{t(`inbox.tabs.${tab}`)}</span>
            <span className={classes.count}>{counts ? `${count(number)}${hasMore(tab, counts) ? '+' : ''}` : '·'}</span>
          </Link>
        )
      })}
    </nav>
  )
}

function hasMore(tab: Tab, { at_least }: Model<'DocumentCounts'>): boolean {
  return tab === 'all' ? at_least.length > 0 : at_least.includes(tab)
}

export function numberOf(tab: Tab, counts: Model<'DocumentCounts'> | undefined): number {
  return (tab === 'all' ? counts?.total : counts?.counts[tab]) ?? 0
}
