/** What keeps Docrail running, and who may do what: a part for each, of which the URL names the one that is shown. */
import { Link, useParams } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import { useMe } from '@/api/me'
import { NotFoundPage } from '@/app/NotFoundPage'
import { useCurrentInView } from '@/kit/in_view'
import { Page } from '@/kit/Page'
import tabs from '@/kit/tabs.module.css'

import classes from './Operations.module.css'
import { type Part, partsFor } from './parts'

export function OperationsPage() {
  const { t } = useTranslation()
  const { part: wanted } = useParams({ strict: false })
  const parts = partsFor(useMe())
  const shown = wanted === undefined ? parts[0] : parts.find((part) => part.name === wanted)
  if (!shown) return <NotFoundPage />
  const Content = shown.component
  return (
    <Page title={t('operations.title')} description={t(`operations.${shown.name}.description`)}>
      <Tabs parts={parts} shown={shown} />
      <section aria-label={t(`operations.${shown.name}.title`)} className={classes.part}>
        <Content key={shown.name} />
      </section>
    </Page>
  )
}

function Tabs({ parts, shown }: { parts: Part[]; shown: Part }) {
  const { t } = useTranslation()
  const row = useCurrentInView<HTMLElement>(shown.name)
  return (
    <nav ref={row} className={tabs.tabs} aria-label={t('operations.parts')}>
      {parts.map((part) => (
        <Link
          key={part.name}
          to="/operations/$part"
          params={{ part: part.name }}
          className={tabs.tab}
          data-active={part === shown || undefined}
          aria-current={part === shown ? 'page' : undefined}
        >
          <part.icon size={15} stroke={1.8} aria-hidden />
          <span>{t(`operations.${part.name}.title`)}</span>
        </Link>
      ))}
    </nav>
  )
}
