import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

/** `page`: the page of the document that is shown; the first one by default. */
export const decideRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/decide/$reviewId',
  validateSearch: ({ page }: { page?: unknown }): { page?: number } => {
    const number = Number(page)
    return Number.isInteger(number) && number > 1 ? { page: number } : {}
  },
  component: lazyRouteComponent(() => import('./DecidePage'), 'DecidePage'),
})

export const decisionsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/decide',
  component: lazyRouteComponent(() => import('./DecisionsPage'), 'DecisionsPage'),
})
