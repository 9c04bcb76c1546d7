import { ActionIcon, Group, Stack, Text, Tooltip, UnstyledButton } from '@mantine/core'
import { IconLayoutSidebarLeftCollapse, IconLayoutSidebarLeftExpand, IconSearch } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

import { useMe } from '@/api/me'
import { KeysOf } from '@/kit/Keys'

import { Account } from './Account'
import { basePath } from './base'
import classes from './Navigation.module.css'
import { openPalette } from './Palette'
import { type NavigationPage, PAGES } from './pages'

type Props = { isNarrow: boolean; isPhone: boolean; onToggle: () => void }

/** The bar at the left: brand, search, pages, account. Narrow, it shows icons with tooltips. */
export function Navigation({ isNarrow, isPhone, onToggle }: Props) {
  const me = useMe()
  return (
    <Stack gap={2} h="100%" p={8}>
      {!isPhone && <Head isNarrow={isNarrow} onToggle={onToggle} />}
      <SearchButton isNarrow={isNarrow} />
      <Stack gap={2} mt={8} style={{ flex: 1 }}>
        {PAGES.filter((page) => me?.scopes.includes(page.scope)).map((page) => (
          <PageLink key={page.to} page={page} isNarrow={isNarrow} />
        ))}
      </Stack>
      <Account isNarrow={isNarrow} />
    </Stack>
  )
}

export function Brand() {
  return (
    <Group gap={8} wrap="nowrap">
      <img src={`${basePath}/assets/icon.svg`} width={22} height={22} alt="" />
      <Text fw={650} size="md">
        Docrail
      </Text>
    </Group>
  )
}

function Head({ isNarrow, onToggle }: { isNarrow: boolean; onToggle: () => void }) {
  const { t } = useTranslation()
  const Toggle = isNarrow ? IconLayoutSidebarLeftExpand : IconLayoutSidebarLeftCollapse
  return (
    <Group h={40} px={8} justify={isNarrow ? 'center' : 'space-between'} wrap="nowrap" mb={4}>
      {!isNarrow && <Brand />}
      <Tooltip label={t(isNarrow ? 'app.wide' : 'app.narrow')} position="right">
        <ActionIcon onClick={onToggle} aria-label={t(isNarrow ? 'app.wide' : 'app.narrow')}>
          <Toggle size={18} stroke={1.6} />
        </ActionIcon>
      </Tooltip>
    </Group>
  )
}

function SearchButton({ isNarrow }: { isNarrow: boolean }) {
  const { t } = useTranslation()
  return (
    <Labelled isNarrow={isNarrow} label={t('app.search')}>
      <UnstyledButton
        className={classes.link}
        data-narrow={isNarrow}
        onClick={openPalette}
        aria-label={isNarrow ? t('app.search') : undefined}
      >
        <IconSearch size={18} stroke={1.6} aria-hidden />
        {!isNarrow && (
          <>
            <span className={classes.name}>{t('app.search')}</span>
            <KeysOf command="general.palette" />
          </>
        )}
      </UnstyledButton>
    </Labelled>
  )
}

function PageLink({ page, isNarrow }: { page: NavigationPage; isNarrow: boolean }) {
  const { t } = useTranslation()
  const name = t(`${page.text}.title`)
  return (
    <Labelled isNarrow={isNarrow} label={name}>
      <Link
        to={page.to}
        className={classes.link}
        data-narrow={isNarrow}
        activeOptions={{ exact: page.to === '/', includeSearch: false }}
        activeProps={{ 'data-active': true }}
        aria-label={isNarrow ? name : undefined}
      >
        <page.icon size={18} stroke={1.6} aria-hidden />
        {!isNarrow && <span className={classes.name}>{name}</span>}
      </Link>
    </Labelled>
  )
}

function Labelled({ isNarrow, label, children }: { isNarrow: boolean; label: string; children: ReactNode }) {
  return (
    <Tooltip label={label} position="right" disabled={!isNarrow} openDelay={100}>
      {children}
    </Tooltip>
  )
}
