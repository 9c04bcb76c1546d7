import { useTranslation } from 'react-i18next'

import { Page } from '@/kit/Page'

export function DefinitionsPage() {
  const { t } = useTranslation()
  return <Page title={t('definitions.title')}>{null}</Page>
}
