import { Button } from '@mantine/core'
import { IconFileText, IconInbox, IconSearchOff } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { useMay } from '@/api/me'
import { count } from '@/format/numbers'
import { Empty } from '@/kit/Empty'
import { notifyProblem } from '@/kit/notify'

import { type InboxSearch, readSearch, TABS } from './search'
import { LOOKS } from './status'
import { numberOf } from './Tabs'
import { sendSample } from './upload/sample'

/** What an empty tab says: how to begin, what to do next, or that nothing was found. */
export function Nothing({ search, counts }: { search: InboxSearch; counts: Model<'DocumentCounts'> | undefined }) {
  const { t } = useTranslation()
  const maySubmit = useMay('submit')
  const navigate = useNavigate()
  const tab = search.status ?? 'attention'
  if (search.text) {
    return (
      <Empty
        icon={IconSearchOff}
        title={t('inbox.empty.notFound')}
        action={
          <Button
            variant="default"
            onClick={() => void navigate({ to: '/', search: readSearch({ ...search, text: '' }) })}
          >
            {t('inbox.empty.clearSearch')}
          </Button>
        }
      >
        {t('inbox.empty.notFoundHint', { tab: t(`inbox.tabs.${tab}`) })}
      </Empty>
    )
  }
  if (counts?.total === 0) {
    return (
      <Empty
        icon={IconInbox}
        title={t('inbox.empty.first')}
        action={
          maySubmit && (
            <Button leftSection={<IconFileText size={15} />} onClick={() => void sendSample().catch(notifyProblem)}>
              {t('inbox.empty.sample')}
            </Button>
          )
        }
      >
        {t('inbox.empty.firstHint')}
      </Empty>
    )
  }
  const next = TABS.find((each) => each !== tab && each !== 'all' && WORK.has(each) && numberOf(each, counts) > 0)
  return (
    <Empty
      icon={tab === 'all' ? IconInbox : LOOKS[tab].icon}
      title={t(tab === 'attention' ? 'inbox.empty.clear' : 'inbox.empty.none')}
      action={
        next && (
          <Button variant="default" onClick={() => void navigate({ to: '/', search: readSearch({ status: next }) })}>
            {t('inbox.empty.next', { tab: t(`inbox.tabs.${next}`), number: count(numberOf(next, counts)) })}
          </Button>
        )
      }
    >
      {t(`inbox.empty.tabs.${tab}`)}
    </Empty>
  )
}

const WORK = new Set(['attention', 'failed', 'second', 'postponed', 'reading'])
