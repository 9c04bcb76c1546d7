import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

import { listSearch, runSearch } from './search'

export const runsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('./RunsPage'), 'RunsPage'),
})

export const runRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs/$runId',
  validateSearch: runSearch,
  component: lazyRouteComponent(() => import('./RunPage'), 'RunPage'),
})
