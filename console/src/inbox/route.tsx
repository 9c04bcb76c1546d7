import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

import { readSearch } from './search'

export const inboxRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./InboxPage'), 'InboxPage'),
})
