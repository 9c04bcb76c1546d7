import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

import { definitionSearch } from './search'

export const definitionsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/definitions',
  component: lazyRouteComponent(() => import('./DefinitionsPage'), 'DefinitionsPage'),
})

export const definitionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/definitions/$definitionId',
  validateSearch: definitionSearch,
  component: lazyRouteComponent(() => import('./DefinitionPage'), 'DefinitionPage'),
})
