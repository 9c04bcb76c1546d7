/** The look of the console: colours, type, density. Components take their looks from here, not from props of their own. */
import {
  type CSSVariablesResolver,
  createTheme,
  type MantineColorScheme,
  type MantineColorSchemeManager,
  type MantineColorsTuple,
  type MantineThemeOverride,
  mergeThemeOverrides,
} from '@mantine/core'
import type { TFunction } from 'i18next'

const ink: MantineColorsTuple = [
  '#eef2fe',
  '#dde4fb',
  '#b9c6f5',
  '#92a5ee',
  '#718ae8',
  '#5c78e4',
  '#4c69dc',
  '#3b57c4',
  '#334cb0',
  '#273d92',
]
const gray: MantineColorsTuple = [
  '#f7f8fa',
  '#eff1f4',
  '#e3e6eb',
  '#d3d7df',
  '#b9bfca',
  '#9198a7',
  '#646b7a',
  '#4b5262',
  '#363c49',
  '#22262f',
]
const dark: MantineColorsTuple = [
  '#d5d9e2',
  '#b7bdca',
  '#959cad',
  '#6a7284',
  '#464d5c',
  '#343a47',
  '#272c36',
  '#1a1d24',
  '#14171d',
  '#0e1015',
]

const looks = createTheme({
  primaryColor: 'ink',
  primaryShade: { light: 7, dark: 6 },
  colors: { ink, gray, dark },
  black: '#1c2029',
  fontFamily: "'Inter Variable', system-ui, -apple-system, 'Segoe UI', sans-serif",
  fontFamilyMonospace: "'JetBrains Mono Variable', ui-monospace, 'SF Mono', Menlo, monospace",
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '1.25rem' }, h2: { fontSize: '1rem' }, h3: { fontSize: '0.875rem' } },
  },
  defaultRadius: 'sm',
  respectReducedMotion: true,
  cursorType: 'pointer',
  components: {
    Button: { defaultProps: { size: 'xs' } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray', size: 'md' } },
    TextInput: { defaultProps: { size: 'sm' } },
    Select: { defaultProps: { size: 'sm' } },
    Modal: {
      defaultProps: { centered: true, transitionProps: { duration: 80 } },
      styles: { title: { fontWeight: 600 } },
    },
    Menu: { defaultProps: { shadow: 'md', transitionProps: { duration: 80 } } },
    Tooltip: { defaultProps: { openDelay: 400, withArrow: true, transitionProps: { duration: 80 } } },
    Table: { defaultProps: { verticalSpacing: 6, horizontalSpacing: 'sm', fz: 'sm' } },
    Badge: { defaultProps: { radius: 'sm', variant: 'light', tt: 'none', fw: 500 } },
  },
})

/** The theme, with the names of the buttons that Mantine adds in the person's language. */
export function themeIn(t: TFunction): MantineThemeOverride {
  const close = { 'aria-label': t('app.close') }
  return mergeThemeOverrides(looks, {
    components: {
      Modal: { defaultProps: { closeButtonProps: close } },
      Drawer: { defaultProps: { closeButtonProps: close } },
      Notification: { defaultProps: { closeButtonProps: close } },
      Alert: { defaultProps: { closeButtonLabel: t('app.close') } },
      PasswordInput: { defaultProps: { visibilityToggleButtonProps: { 'aria-label': t('app.showText') } } },
    },
  })
}

/** Surfaces that Mantine has no names for. `--surface-sunken` is the navigation's, `--line` every border's. */
export const variables: CSSVariablesResolver = (resolved) => ({
  variables: {},
  light: {
    '--surface-sunken': resolved.colors.gray[0],
    '--surface-hover': resolved.colors.gray[1],
    '--surface-selected': ink[0],
    '--line': resolved.colors.gray[2],
    '--mantine-color-dimmed': resolved.colors.gray[6],
    // Words in a colour on white.
    '--mantine-color-error': '#c02626',
    '--mantine-color-red-text': '#c02626',
    '--mantine-color-orange-text': '#a33c06',
    '--mantine-color-teal-text': '#087f5b',
    // Words on a tint of their colour, readable at the size of a badge.
    '--mantine-color-red-light-color': '#b32020',
    '--mantine-color-yellow-light-color': '#7d5200',
    '--mantine-color-teal-light-color': '#086b4d',
    '--mantine-color-grape-light-color': '#7b2a91',
  },
  dark: {
    '--surface-sunken': resolved.colors.dark[8],
    '--surface-hover': resolved.colors.dark[6],
    '--surface-selected': 'rgba(92, 120, 228, 0.18)',
    '--line': resolved.colors.dark[5],
    '--mantine-color-dimmed': resolved.colors.dark[2],
    '--mantine-color-red-light-color': resolved.colors.red[3],
  },
})

const KEY = 'docrail.colour-scheme' // read by public/assets/colour-scheme.js too, before the first paint

export const colourScheme: MantineColorSchemeManager = {
  get: (fallback) => storedScheme() ?? fallback,
  set: (scheme) => {
    try {
      localStorage.setItem(KEY, scheme)
    } catch {
      // blocked: the scheme lasts as long as the page
    }
  },
  subscribe: (onUpdate) => {
    watcher = (event) => event.key === KEY && onUpdate(storedScheme() ?? 'auto')
    addEventListener('storage', watcher)
  },
  unsubscribe: () => watcher && removeEventListener('storage', watcher),
  clear: () => localStorage.removeItem(KEY),
}

let watcher: ((event: StorageEvent) => void) | undefined

function storedScheme(): MantineColorScheme | undefined {
  try {
    const found = localStorage.getItem(KEY)
    return found === 'light' || found === 'dark' || found === 'auto' ? found : undefined
  } catch {
    return undefined
  }
}
