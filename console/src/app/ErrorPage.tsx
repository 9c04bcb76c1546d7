import { Button, Code, Group } from '@mantine/core'
import { IconBug } from '@tabler/icons-react'
import type { ErrorComponentProps } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import { Problem } from '@/api/problem'
import { Empty } from '@/kit/Empty'
import { Page, useTitle } from '@/kit/Page'
import { Trouble } from '@/kit/Trouble'

/** A screen that failed: why the server refused, or, for a fault of the console, its message. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation()
  useTitle(t('app.brokenTitle'))
  if (error instanceof Problem)
    return (
      <Page title={t('app.brokenTitle')}>
        <Trouble error={error} retry={reset} />
      </Page>
    )
  return (
    <Empty
      isPage
      icon={IconBug}
      title={t('app.brokenTitle')}
      action={
        <Group>
          <Button onClick={() => location.reload()}>{t('app.reload')}</Button>
        </Group>
      }
    >
      {t('app.broken')}
      <Code block mt="sm">
        {error instanceof Error ? error.message : String(error)}
      </Code>
    </Empty>
  )
}
