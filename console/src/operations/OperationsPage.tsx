import { useTranslation } from 'react-i18next'

import { Page } from '@/kit/Page'

export function OperationsPage() {
  const { t } = useTranslation()
  return <Page title={t('operations.title')}>{null}</Page>
}
