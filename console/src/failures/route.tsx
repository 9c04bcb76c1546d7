import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

export const failuresRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/failures',
  component: lazyRouteComponent(() => import('./FailuresPage'), 'FailuresPage'),
})
