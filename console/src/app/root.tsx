/** The root of all routes: whoever is not signed in sees the sign-in page, everyone else the shell. */
import { Container } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createRootRoute } from '@tanstack/react-router'

import { meQuery } from '@/api/me'
import { signInNeeded } from '@/api/signed_in'
import { Trouble } from '@/kit/Trouble'
import { SignInPage } from '@/signin/SignInPage'

import { Shell, Splash } from './Shell'
import { useSignal } from './signal'

export const rootRoute = createRootRoute({ component: Root })

function Root() {
  const me = useQuery(meQuery)
  const isAsked = useSignal(signInNeeded)
  if (me.data) return <Shell />
  if (isAsked) return <SignInPage />
  if (!me.error) return <Splash />
  return (
    <Container size="xs" pt="20vh">
      <Trouble error={me.error} retry={() => void me.refetch()} />
    </Container>
  )
}
