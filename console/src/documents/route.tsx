import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

export const documentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/documents/$documentId',
  component: lazyRouteComponent(() => import('./DocumentPage'), 'DocumentPage'),
})
