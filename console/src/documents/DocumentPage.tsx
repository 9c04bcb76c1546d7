import { useTranslation } from 'react-i18next'

import { Page } from '@/kit/Page'

export function DocumentPage() {
  const { t } = useTranslation()
  return <Page title={t('documents.title')}>{null}</Page>
}
