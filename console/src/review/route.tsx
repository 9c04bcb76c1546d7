import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

export const reviewRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/review/$reviewId',
  component: lazyRouteComponent(() => import('./ReviewPage'), 'ReviewPage'),
})
