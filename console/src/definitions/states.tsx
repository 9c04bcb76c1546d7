/** How the aliases of a version look: an icon, a word and a colour. */
import { Badge } from '@mantine/core'
import { IconCircleCheck, IconFlask, IconTag, type TablerIcon } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

import { percent } from '@/format/numbers'

import type { Aliases, Target } from './queries'

type Look = { icon: TablerIcon; colour: string }

const LOOKS: Record<string, Look> = {
  stable: { icon: IconCircleCheck, colour: 'teal' },
  canary: { icon: IconFlask, colour: 'yellow' },
}
const OTHER: Look = { icon: IconTag, colour: 'gray' }

type Props = { name: string; target: Target; withVersion?: boolean }

export function AliasBadge({ name, target, withVersion = false }: Props) {
  const { t } = useTranslation()
  const { icon: Icon, colour } = LOOKS[name] ?? OTHER
  const version = withVersion ? t('definitions.version', { version: target.version }) : ''
  const share = typeof target.percent === 'number' ? percent(target.percent / 100) : ''
  const word = name === 'stable' ? t('definitions.stable') : name === 'canary' ? t('definitions.canary') : name
  return (
    <Badge color={colour} c="var(--mantine-color-text)" leftSection={<Icon size={13} aria-hidden />} data-alias={name}>
      {[word, share, version].filter(Boolean).join(' · ')}
    </Badge>
  )
}

/** The aliases as people read them: what new runs get, then the canary, then the others. */
export function byImportance(aliases: Aliases): [string, Target][] {
  const rank = (name: string) => (name === 'stable' ? 0 : name === 'canary' ? 1 : 2)
  return Object.entries(aliases).toSorted(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b))
}

/** Those that name a version. */
export function aliasesOf(aliases: Aliases, version: number): [string, Target][] {
  return byImportance(aliases).filter(([, target]) => target.version === version)
}
