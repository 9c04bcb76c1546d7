import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

import { readSearch } from './search'

export const exportsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/exports',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./ExportsPage'), 'ExportsPage'),
})
