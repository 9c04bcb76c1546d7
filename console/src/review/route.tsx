import { createRoute, lazyRouteComponent } from '@tanstack/react-router'

import { rootRoute } from '@/app/root'

import { DEFAULT_QUEUE } from './queue'

/** `queue`: the filters of the list that the document was opened from, as a query: `status=attention&text=muster`. */
export const reviewRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/review/$reviewId',
  validateSearch: ({ queue }: { queue?: unknown }): { queue: string } => ({
    queue: typeof queue === 'string' ? queue : DEFAULT_QUEUE,
  }),
  component: lazyRouteComponent(() => import('./ReviewPage'), 'ReviewPage'),
})
