import { useTranslation } from 'react-i18next'

import { Page } from '@/kit/Page'

export function RunsPage() {
  const { t } = useTranslation()
  return <Page title={t('runs.title')}>{null}</Page>
}
