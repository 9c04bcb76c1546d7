import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

import { DEFAULT_QUEUE } from './queue'

type ReviewSearch = { queue: string; below?: string; page?: number }

/**
 * `queue`: the filters of the list that the document was opened from, as a query: `status=attention&text=muster`.
 * `below`: the look-alike that it followed there, if it was reached from that one, which may have left the list.
 * `page`: the page of the document that is shown; the first one by default.
 */
export const reviewRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/review/$reviewId',
  validateSearch: ({ queue, below, page }: Record<string, unknown>): ReviewSearch => ({
    queue: typeof queue === 'string' ? queue : DEFAULT_QUEUE,
    ...(typeof below === 'string' && { below }),
    ...(Number.isInteger(page) && Number(page) > 1 && { page: Number(page) }),
  }),
  component: lazyRouteComponent(() => import('./ReviewPage'), 'ReviewPage'),
})
