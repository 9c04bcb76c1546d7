/** The root of all routes: whoever is not signed in sees the sign-in page, everyone else the shell. */
import { Container, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createRootRoute } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import { meQuery } from '@/api/me'
import { signInNeeded } from '@/api/signed_in'
import { Trouble } from '@/kit/Trouble'
import { SignInPage } from '@/signin/SignInPage'

import { Shell, Splash } from './Shell'
import { useSignal } from './signal'

export const rootRoute = createRootRoute({ component: Root })

function Root() {
  const { t } = useTranslation()
  const me = useQuery(meQuery)
  const isAsked = useSignal(signInNeeded)
  if (me.data) return <Shell />
  if (isAsked) return <SignInPage />
  if (!me.error) return <Splash />
  return (
    <Container size="xs" pt="20vh">
      <Title order={1} mb="md">
        {t('app.name')}
      </Title>
      <Trouble error={me.error} retry={() => void me.refetch()} />
    </Container>
  )
}
