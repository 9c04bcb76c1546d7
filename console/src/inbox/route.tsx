import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

export const inboxRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./InboxPage'), 'InboxPage'),
})
