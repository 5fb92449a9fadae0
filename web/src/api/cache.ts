/** What was read. */
import { QueryClient } from '@tanstack/react-query'
import { Failure } from './failure.ts'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      refetchOnWindowFocus: false,
      // What the server refuses, it refuses again. What it is too busy for, it takes later.
      retry: (count, error) =>
        count < 2 && error instanceof Failure && (error.status === 0 || error.status >= 502),
    },
  },
})
