import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

export const exportsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/exports',
  component: lazyRouteComponent(() => import('./ExportsPage'), 'ExportsPage'),
})
