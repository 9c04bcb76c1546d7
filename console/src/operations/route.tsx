import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

export const operationsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operations',
  component: lazyRouteComponent(() => import('./OperationsPage'), 'OperationsPage'),
})
