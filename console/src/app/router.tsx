/** The routes: each screen's folder has one route file, which is listed here and, by its path, in api/console.py. */
import { createRouter } from '@tanstack/react-router'

import { batchesRoute, batchRoute } from '@/batches/route'
import { decideRoute, decisionsRoute } from '@/decide/route'
import { editDefinitionRoute, newDefinitionRoute } from '@/definitions/editor/route'
import { definitionRoute, definitionsRoute } from '@/definitions/route'
import { documentRoute } from '@/documents/route'
import { exportsRoute } from '@/exports/route'
import { failuresRoute } from '@/failures/route'
import { inboxRoute } from '@/inbox/route'
import { operationsPartRoute, operationsRoute } from '@/operations/route'
import { reviewRoute } from '@/review/route'
import { runRoute, runsRoute } from '@/runs/route'

import { basePath } from './base'
import { ErrorPage } from './ErrorPage'
import { NotFoundPage } from './NotFoundPage'
import { rootRoute } from './root'
import { Splash } from './Shell'

const routes = rootRoute.addChildren([
  inboxRoute,
  reviewRoute,
  decideRoute,
  decisionsRoute,
  batchesRoute,
  batchRoute,
  exportsRoute,
  documentRoute,
  runsRoute,
  runRoute,
  failuresRoute,
  definitionsRoute,
  definitionRoute,
  newDefinitionRoute,
  editDefinitionRoute,
  operationsRoute,
  operationsPartRoute,
])

export const router = createRouter({
  routeTree: routes,
  basepath: basePath || '/',
  defaultPreload: 'intent',
  defaultErrorComponent: ErrorPage,
  defaultNotFoundComponent: NotFoundPage,
  defaultPendingComponent: Splash,
  scrollRestoration: true,
  scrollToTopSelectors: ['#content'],
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
