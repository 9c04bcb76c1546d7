import { useTranslation } from 'react-i18next'

import { Page } from '@/kit/Page'

export function ExportsPage() {
  const { t } = useTranslation()
  return <Page title={t('exports.title')}>{null}</Page>
}
