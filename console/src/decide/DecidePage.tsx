import { useTranslation } from 'react-i18next'

import { Page } from '@/kit/Page'

export function DecidePage() {
  const { t } = useTranslation()
  return <Page title={t('decide.title')}>{null}</Page>
}
