import { useTranslation } from 'react-i18next'

import { Page } from '@/kit/Page'

export function DefinitionPage() {
  const { t } = useTranslation()
  return <Page title={t('definitions.title')}>{null}</Page>
}
