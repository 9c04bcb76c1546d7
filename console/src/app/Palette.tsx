import { createSpotlight, Spotlight, type SpotlightActionGroupData, useSpotlight } from '@mantine/spotlight'
import { IconCommand, IconSearch } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import { useMe } from '@/api/me'
import { KeysOf } from '@/kit/Keys'
import type { CommandId } from '@/keyboard/commands'
import { nameOf } from '@/keyboard/names'
import { activeCommands, type Entry } from '@/keyboard/registry'

import { PAGES } from './pages'
import { signal, useSignal } from './signal'

/** What opens the palette itself. */
const PALETTE = new Set<CommandId>(['general.palette', 'general.search'])

const [store, palette] = createSpotlight()
/** While it is closed: the commands change with every document, and to list them takes as long as to draw five fields. */
const NONE = signal<readonly Entry[]>([])

let before: Element | null = null

export function openPalette(): void {
  before = document.activeElement
  palette.open()
}

/** Gives the focus back. Mantine would return it to the palette's own field, which takes it as soon as it is drawn. */
function returnFocus(): void {
  if (before instanceof HTMLElement) before.focus({ preventScroll: true })
}

/** Goes to any page and runs any command that works on the present one, by a few letters of its name. */
export function Palette() {
  const { t } = useTranslation()
  const pages = usePages()
  const commands = useCommandsHere(useSpotlight(store).opened)
  return (
    <Spotlight
      store={store}
      actions={[
        { group: t('palette.pages'), actions: pages },
        { group: t('palette.commands'), actions: commands },
      ]}
      shortcut={null}
      transitionProps={{ duration: 0 }}
      returnFocus={false}
      onSpotlightClose={returnFocus}
      highlightQuery
      scrollable
      maxHeight={420}
      nothingFound={t('palette.nothing')}
      searchProps={{
        leftSection: <IconSearch size={18} />,
        placeholder: t('palette.placeholder'),
        'aria-label': t('palette.placeholder'),
        autoFocus: true, // Mantine moves the focus in a timer, which comes after the next key of someone who types fast
      }}
    />
  )
}

function usePages(): SpotlightActionGroupData['actions'] {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const me = useMe()
  return PAGES.filter((page) => me?.scopes.includes(page.scope)).map((page) => ({
    id: page.to,
    label: t(`${page.text}.title`),
    leftSection: <page.icon size={18} stroke={1.6} />,
    onClick: () => void navigate({ to: page.to }),
  }))
}

function useCommandsHere(isOpen: boolean): SpotlightActionGroupData['actions'] {
  const { t } = useTranslation()
  return useSignal(isOpen ? activeCommands : NONE)
    .filter((each, index, all) => all.findIndex((other) => other.id === each.id) === index)
    .filter((each) => !PALETTE.has(each.id) && !each.inDialog)
    .map((each) => ({
      id: each.id,
      label: nameOf(each.id, t),
      leftSection: <IconCommand size={18} stroke={1.6} />,
      rightSection: <KeysOf command={each.id} />,
      onClick: () => each.run(),
    }))
}
