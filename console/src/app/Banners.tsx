import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { Banner } from '@/kit/Banner'
import { LiveBanner } from '@/live/LiveBanner'

import { useSignal } from './signal'
import { newVersion } from './version'

/** What concerns every page, above it: each banner shows itself only while it has something to say. */
export function Banners() {
  return (
    <div role="status">
      <LiveBanner />
      <VersionBanner />
    </div>
  )
}

function VersionBanner() {
  const { t } = useTranslation()
  if (!useSignal(newVersion)) return null
  return (
    <Banner
      color="blue"
      hint={t('app.newVersionHint')}
      action={<Button onClick={() => location.reload()}>{t('app.reload')}</Button>}
    >
      {t('app.newVersion')}
    </Banner>
  )
}
