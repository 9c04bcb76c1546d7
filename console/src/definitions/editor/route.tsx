import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

/** `version`: the published version to begin with; by default the newest. */
export type EditSearch = { version?: number }

export const newDefinitionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/definitions/new',
  component: lazyRouteComponent(() => import('./EditorPage'), 'NewDefinitionPage'),
})

export const editDefinitionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/definitions/$definitionId/edit',
  validateSearch: (raw: Record<string, unknown>): EditSearch =>
    Number.isInteger(raw.version) && Number(raw.version) > 0 ? { version: Number(raw.version) } : {},
  component: lazyRouteComponent(() => import('./EditorPage'), 'EditDefinitionPage'),
})
