/** The versions at the left, newest first: which aliases name each, who published it, when and why. */
import { Button } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import { useCommands } from '@/keyboard/use_commands'
import { Name, Time } from '@/kit/Values'

import classes from './definitions.module.css'
import type { Aliases, Version } from './queries'
import { AliasBadge, aliasesOf } from './states'

const route = getRouteApi('/definitions/$definitionId')

type Props = {
  definitionId: string
  versions: readonly Version[]
  aliases: Aliases
  shown: number
  more: (() => void) | undefined
}

export function VersionList({ definitionId, versions, aliases, shown, more }: Props) {
  const { t } = useTranslation()
  const { tab } = route.useSearch()
  const navigate = route.useNavigate()
  const searchOf = (version: number) => (tab ? { tab, version } : { version })
  const move = (by: number) => {
    const next = versions[versions.findIndex((each) => each.version === shown) + by]
    if (next) void navigate({ search: searchOf(next.version), replace: true })
  }
  useCommands({ 'list.next': () => move(1), 'list.previous': () => move(-1) })
  return (
    <nav className={classes.versions} aria-label={t('definitions.versions')}>
      <h2>{t('definitions.versions')}</h2>
      <ul>
        {versions.map((each) => (
          <li key={each.version}>
            <Link
              to="/definitions/$definitionId"
              params={{ definitionId }}
              search={searchOf(each.version)}
              className={classes.version}
              aria-current={each.version === shown ? 'true' : undefined}
              activeProps={{}}
            >
              <span className={classes.versionHead}>
                {t('definitions.version', { version: each.version })}
                {aliasesOf(aliases, each.version).map(([name, target]) => (
                  <AliasBadge key={name} name={name} target={target} />
                ))}
              </span>
              <div className={classes.facts}>
                <Time value={each.created_at} /> · <Name value={each.published_by} most={30} />
              </div>
              {each.reason && (
                <div className={classes.reason}>
                  <Name value={each.reason} most={120} />
                </div>
              )}
            </Link>
          </li>
        ))}
      </ul>
      {more && (
        <div className={classes.more}>
          <Button variant="default" size="compact-xs" onClick={more}>
            {t('app.more')}
          </Button>
        </div>
      )}
    </nav>
  )
}
