import { Stack } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { keys } from '@/api/keys'
import { useMay } from '@/api/me'
import { useSignal } from '@/app/signal'
import { locale } from '@/format/locale'
import { zoneChoice, zoneName } from '@/format/zone'
import { useCommands } from '@/keyboard/use_commands'
import { Page } from '@/kit/Page'
import { notifyProblem } from '@/kit/notify'

import { Earlier } from './Earlier'
import classes from './ExportsPage.module.css'
import { OrderForm } from './OrderForm'
import { orderOf, type Order } from './order'
import { PreviewPanel } from './PreviewPanel'
import { orderExport } from './queries'
import { complete } from './search'

const route = getRouteApi('/exports')

/** Export approved documents: what is chosen at the left, what that gives and earlier exports at the right. */
export function ExportsPage() {
  const { t } = useTranslation()
  const search = complete(route.useSearch())
  const zone = zoneName(useSignal(zoneChoice))
  const headings = {
    document: (name: keyof typeof texts) => texts[name],
    line: (name: keyof typeof lineTexts) => lineTexts[name],
  }
  const texts = t('exports.columns', { returnObjects: true })
  const lineTexts = t('exports.lineColumns', { returnObjects: true })
  const order = orderOf(search, headings, locale, zone)
  const isComplete = search.format !== 'webhook' || /^https?:\/\/./.test(search.url ?? '')
  const ordering = useOrdering()
  const mayOrder = useMay('review')
  const submit = mayOrder && isComplete && !ordering.isPending ? () => ordering.order(order) : undefined
  useCommands({ 'form.submit': submit })
  return (
    <Page title={t('exports.title')} description={t('exports.description')}>
      <div className={classes.split}>
        <OrderForm search={search} zone={zone} />
        <Stack gap="xl" miw={0}>
          <PreviewPanel
            order={order}
            isComplete={isComplete}
            mayOrder={mayOrder}
            isOrdering={ordering.isPending}
            onOrder={submit}
          />
          <Earlier saved={ordering.own} />
        </Stack>
      </div>
    </Page>
  )
}

/** Orders exports, and remembers which ones this page has ordered: their files are saved once they are ready. */
function useOrdering() {
  const client = useQueryClient()
  const [own, setOwn] = useState<readonly string[]>([])
  const mutation = useMutation({
    mutationFn: (order: Order) => orderExport(order, `console-${crypto.randomUUID()}`),
    onSuccess: (made) => setOwn((before) => [...before, made.export_id]),
    onError: notifyProblem,
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: keys.exports.all }),
        client.invalidateQueries({ queryKey: keys.documents.all }),
      ]),
  })
  return { order: mutation.mutate, isPending: mutation.isPending, own }
}
