import { useTranslation } from 'react-i18next'

import { Page } from '@/kit/Page'

export function RunPage() {
  const { t } = useTranslation()
  return <Page title={t('runs.one')}>{null}</Page>
}
