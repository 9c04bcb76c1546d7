import { useTranslation } from 'react-i18next'

import { Page } from '@/kit/Page'

export function ReviewPage() {
  const { t } = useTranslation()
  return <Page title={t('review.title')}>{null}</Page>
}
