import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'

import { queryClient } from '@/api/queries'

import { router } from './router'
import { colourScheme, themeIn, variables } from './theme'

/** The nonce that the policy of this page asks of `<style>` elements (ADR 38). */
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''
setNonce(nonce) // for the style that stops a page from scrolling under a dialog

export function App() {
  const { t } = useTranslation()
  const theme = useMemo(() => themeIn(t), [t])
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      colorSchemeManager={colourScheme}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-right" limit={4} />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  )
}
