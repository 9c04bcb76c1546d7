import { Button } from '@mantine/core'
import { IconMapOff } from '@tabler/icons-react'
import { Link, useLocation } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import { shortened, visible } from '@/format/text'
import { Empty } from '@/kit/Empty'
import { useTitle } from '@/kit/Page'

export function NotFoundPage() {
  const { t } = useTranslation()
  const path = shortened(visible(useLocation().pathname))
  useTitle(t('app.notFoundTitle'))
  return (
    <Empty
      isPage
      icon={IconMapOff}
      title={t('app.notFoundTitle')}
      action={
        <Button component={Link} to="/">
          {t('app.toInbox')}
        </Button>
      }
    >
      {t('app.notFound', { path })}
    </Empty>
  )
}
