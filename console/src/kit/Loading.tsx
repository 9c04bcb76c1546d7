import { Skeleton } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** Keeps the place of what is being fetched. Screen readers announce it. */
export function Loading({ height }: { height: number }) {
  const { t } = useTranslation()
  return <Skeleton height={height} role="status" aria-label={t('app.loading')} />
}
