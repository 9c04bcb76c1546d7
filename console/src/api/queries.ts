/** The cache of answers: the only state of the console besides the URL and what is being typed. */
import { QueryClient } from '@tanstack/react-query'

import { isProblem } from './problem'

const MOST_RETRIES = 3
const LONGEST_WAIT_MS = 8000
const SERVER_ERROR = 500

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000, // events make answers stale earlier
      retry: (failures, error) => failures < MOST_RETRIES && mayPass(error),
      retryDelay: (failures) => Math.min(500 * 2 ** failures, LONGEST_WAIT_MS),
      networkMode: 'always', // the server may be this very machine: being offline says nothing about it
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})

/** Whether asking again may help: not after a refusal, which the server has reasons for. */
function mayPass(error: unknown): boolean {
  return !isProblem(error) || error.status === 0 || error.status >= SERVER_ERROR
}
