import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

import { batchSearch } from './search'

export const batchesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/batches',
  component: lazyRouteComponent(() => import('./BatchesPage'), 'BatchesPage'),
})

export const batchRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/batches/$batchId',
  validateSearch: batchSearch,
  component: lazyRouteComponent(() => import('./BatchPage'), 'BatchPage'),
})
