import { useTranslation } from 'react-i18next'

import { Page } from '@/kit/Page'

export function InboxPage() {
  const { t } = useTranslation()
  return <Page title={t('inbox.title')}>{null}</Page>
}
