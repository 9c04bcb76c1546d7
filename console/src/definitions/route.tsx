import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

export const definitionsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/definitions',
  component: lazyRouteComponent(() => import('./DefinitionsPage'), 'DefinitionsPage'),
})

export const definitionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/definitions/$definitionId',
  component: lazyRouteComponent(() => import('./DefinitionPage'), 'DefinitionPage'),
})
