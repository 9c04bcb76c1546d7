import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'

import { Banner } from '@/kit/Banner'

import { healthQuery, troubleOf } from './health'
import { useLiveState } from './live'

/** Says what does not answer at present, and what works all the same. */
export function LiveBanner() {
  const { t } = useTranslation()
  const health = useQuery(healthQuery)
  const state = useLiveState()
  const trouble = troubleOf(health.data, health.isError)
  if (trouble !== undefined) {
    return (
      <Banner color={trouble === 'worker' || trouble === 'temporal' ? 'yellow' : 'red'} hint={t(`live.${trouble}Hint`)}>
        {t(`live.${trouble}`)}
      </Banner>
    )
  }
  if (state !== 'polling') return null
  return (
    <Banner color="gray" hint={t('live.pollingHint')}>
      {t('live.polling')}
    </Banner>
  )
}
