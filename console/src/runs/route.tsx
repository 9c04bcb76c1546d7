import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

export const runsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs',
  component: lazyRouteComponent(() => import('./RunsPage'), 'RunsPage'),
})

export const runRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs/$runId',
  component: lazyRouteComponent(() => import('./RunPage'), 'RunPage'),
})
