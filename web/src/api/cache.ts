/** What was read. */
import { type Query, QueryCache, QueryClient } from '@tanstack/react-query'
import { isAway } from './failure.ts'

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: (error) => void (isAway(error) && readAgain()) }),
  defaultOptions: {
    // The server may be on this machine, whatever the browser says of the network. And a write that waits for it would be done when
    // nobody expects it any more.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 10_000,
      refetchOnWindowFocus: false,
      // What the server refuses, it refuses again. What it is too busy for, it takes later.
      retry: (count, error) => count < 2 && isAway(error),
    },
  },
})

const LOOK_MS = 2000
let look: Promise<void> | undefined

/** Waits until a server that is away answers. */
export const back = (): Promise<void> => (look ??= untilBack())

async function untilBack(): Promise<void> {
  do await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  while (!(await fetch('/healthz').catch(() => undefined))?.ok)
  look = undefined
}

const waits = ({ state }: Query) => isAway(state.error)

/** What is in sight and got no answer is read when there is one, once for all reads that wait for it. */
async function readAgain(): Promise<void> {
  await back()
  await queryClient.refetchQueries({ type: 'active', predicate: waits }, { cancelRefetch: false })
}
