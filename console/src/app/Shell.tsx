import { ActionIcon, AppShell, Burger, Group, Text } from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'

import { useMay } from '@/api/me'
import { HelpDialog, helpOpened } from '@/keyboard/HelpDialog'
import { useCommands } from '@/keyboard/use_commands'
import { useLive } from '@/live/live'
import { SignInDialog } from '@/signin/SignInDialog'

import { Banners } from './Banners'
import { Brand, Navigation } from './Navigation'
import { openPalette, Palette } from './Palette'
import { oneOf, preference } from './preferences'
import classes from './Shell.module.css'
import { useSignal } from './signal'

const width = preference('navigation', oneOf('', 'narrow', 'wide'))
const WIDE = 212
const NARROW = 60

/** The frame of every page: navigation, banners, the page, and what lies over it. */
export function Shell() {
  const { t } = useTranslation()
  const [opened, { toggle, close }] = useDisclosure()
  const hasRoom = useMediaQuery('(min-width: 80em)', true, { getInitialValueInEffect: false })
  const chosen = useSignal(width)
  const isNarrow = chosen === '' ? !hasRoom : chosen === 'narrow'
  const isPhone = useMediaQuery('(max-width: 47.99em)', false, { getInitialValueInEffect: false })
  const navigate = useNavigate()
  const maySubmit = useMay('submit')
  useCommands(
    {
      'general.help': () => helpOpened.set(true),
      'general.palette': openPalette,
      'general.search': openPalette,
      'general.upload': maySubmit ? () => void upload(() => void navigate({ to: '/' })) : undefined,
      'general.export': () => void navigate({ to: '/exports' }),
    },
    { isFallback: true },
  )
  useFocusOnNavigation(close)
  useLive()
  return (
    <>
      <a className="skip-link" href="#content" onClick={focusContent}>
        {t('app.skip')}
      </a>
      <AppShell
        navbar={{ width: isNarrow ? NARROW : WIDE, breakpoint: 'sm', collapsed: { mobile: !opened } }}
        header={{ height: 48, collapsed: !isPhone }}
        transitionDuration={0}
        padding={0}
      >
        {isPhone && (
          <AppShell.Header className={classes.header}>
            <Burger opened={opened} onClick={toggle} size="sm" aria-label={t('app.menu')} aria-expanded={opened} />
            <Brand />
            <ActionIcon onClick={openPalette} aria-label={t('app.search')}>
              <IconSearch size={18} />
            </ActionIcon>
          </AppShell.Header>
        )}
        <AppShell.Navbar
          className={classes.navigation}
          aria-label={t('app.navigation')}
          data-closed={(isPhone && !opened) || undefined}
        >
          <Navigation
            isNarrow={isNarrow && !isPhone}
            isPhone={isPhone}
            onToggle={() => width.set(isNarrow ? 'wide' : 'narrow')}
          />
        </AppShell.Navbar>
        <AppShell.Main className={classes.main}>
          <Banners />
          <div id="content" tabIndex={-1} className={classes.content}>
            <Outlet />
          </div>
        </AppShell.Main>
      </AppShell>
      <Palette />
      <HelpDialog />
      <SignInDialog />
    </>
  )
}

/** Asks for files to send, and shows them on their way. What unpacks archives is loaded with the first ones. */
async function upload(onChosen: () => void): Promise<void> {
  const { choose } = await import('@/inbox/upload/add')
  choose({ onChosen })
}

/** Moves the focus to a new page's content, so that keys and screen readers begin there, and closes the menu. */
function useFocusOnNavigation(closeMenu: () => void): void {
  const path = useRouterState({ select: (state) => state.location.pathname })
  const before = useRef(path)
  useEffect(() => {
    if (before.current === path) return
    before.current = path
    closeMenu()
    const content = document.getElementById('content')
    if (content && !content.contains(document.activeElement)) content.focus({ preventScroll: true })
  }, [path, closeMenu])
}

function focusContent(event: React.MouseEvent): void {
  event.preventDefault() // with <base>, a fragment would lead to another page
  document.getElementById('content')?.focus()
}

/** Shown where there is nothing else yet. */
export function Splash() {
  const { t } = useTranslation()
  return (
    <Group justify="center" align="center" h="100dvh">
      <Text c="dimmed" size="sm" role="status">
        {t('app.loading')}…
      </Text>
    </Group>
  )
}
