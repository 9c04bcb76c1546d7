import { useTranslation } from 'react-i18next'

import { Page } from '@/kit/Page'

export function FailuresPage() {
  const { t } = useTranslation()
  return <Page title={t('failures.title')}>{null}</Page>
}
