import { Center, Paper, Stack, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { Brand } from '@/app/Navigation'
import { useTitle } from '@/kit/Page'

import { SignInForm } from './SignInForm'

/** What a person sees who has no session yet. */
export function SignInPage() {
  const { t } = useTranslation()
  useTitle(t('signin.title'))
  return (
    <Center component="main" mih="100dvh" p="md" bg="var(--surface-sunken)">
      <Stack gap="lg" w={360} maw="100%">
        <Center>
          <Brand />
        </Center>
        <Paper withBorder p="lg" radius="md">
          <Title order={1} mb="md">
            {t('signin.title')}
          </Title>
          <SignInForm />
        </Paper>
      </Stack>
    </Center>
  )
}
