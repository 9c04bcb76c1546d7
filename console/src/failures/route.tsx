import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

import { failuresSearch } from './search'

export const failuresRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/failures',
  validateSearch: failuresSearch,
  component: lazyRouteComponent(() => import('./FailuresPage'), 'FailuresPage'),
})
