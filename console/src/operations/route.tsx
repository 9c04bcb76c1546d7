import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

import { operationsSearch } from './search'

const component = lazyRouteComponent(() => import('./OperationsPage'), 'OperationsPage')

/** The first part that the person may see. */
export const operationsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operations',
  validateSearch: operationsSearch,
  component,
})

export const operationsPartRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operations/$part',
  validateSearch: operationsSearch,
  component,
})
