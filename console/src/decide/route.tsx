import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

export const decideRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/decide/$reviewId',
  component: lazyRouteComponent(() => import('./DecidePage'), 'DecidePage'),
})

export const decisionsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/decide',
  component: lazyRouteComponent(() => import('./DecisionsPage'), 'DecisionsPage'),
})
