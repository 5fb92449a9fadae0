/** What the pages read. The key of a query is its path and its body, so that a write or the stream can name what is stale. */
import {
  keepPreviousData,
  type QueryClient,
  useInfiniteQuery,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { Failure } from './failure.ts'
import { newKey, pathOf, send } from './send.ts'
import type { Base, Change, Delivery, Page, RecordType, ReviewRequest } from './shapes.ts'

/** What pages need beside: the shapes of what is read, its addresses, who reads, and what was refused. */
export { type Grant, type Kind, useSession } from './session.ts'
export type * from './shapes.ts'
export { Failure, newKey, pathOf, send }

/** `every`: milliseconds after which it is read again, also where no change of the base says so. */
type Options = { enabled?: boolean; keep?: boolean; every?: number }

/** A read as a query: its key is its path. */
export const reading = <T>(path: string) => ({
  queryKey: [path],
  queryFn: ({ signal }: { signal: AbortSignal }) => send<T>('GET', path, undefined, { signal }),
})

/** A read whose question is a body: a query, an aggregate, a plan. What makes `under` stale makes it stale too. */
export const asking = <T>(path: string, body?: unknown, { method = 'POST', under = path } = {}) => ({
  queryKey: [under, body],
  queryFn: ({ signal }: { signal: AbortSignal }) => send<T>(method, path, body, { signal }),
})

export const useRead = <T, Shown = T>(
  path: string,
  { enabled = true, keep, every, select }: Options & { select?: (answer: T) => Shown } = {},
) =>
  useQuery<T, Failure, Shown>({
    ...reading<T>(path),
    enabled,
    ...(keep && { placeholderData: keepPreviousData }),
    ...(every !== undefined && { refetchInterval: every }),
    ...(select && { select }),
  })

export const useAsk = <T>(
  path: string,
  body?: unknown,
  { enabled = true, keep, ...how }: Options & { method?: string; under?: string } = {},
) =>
  useQuery<T, Failure>({
    ...asking<T>(path, body, how),
    enabled,
    ...(keep && { placeholderData: keepPreviousData }),
  })

/** The pages of a list of the server. Each says where the next one begins: a cursor, or in the log a number. */
export const usePages = <Item>(path: string, from: 'cursor' | 'before' = 'cursor') =>
  useInfiniteQuery<Page<Item>, Failure, Item[], readonly unknown[], string | undefined>({
    queryKey: [path],
    queryFn: ({ pageParam: place, signal }) =>
      send('GET', place ? `${path}&${from}=${encodeURIComponent(place)}` : path, undefined, { signal }),
    initialPageParam: undefined,
    getNextPageParam: ({ meta }) =>
      meta.has_more ? (meta.next_cursor ?? meta.next_before?.toString()) : undefined,
    select: ({ pages }) => pages.flatMap(({ data }) => data),
    maxPages: 60,
    placeholderData: keepPreviousData,
  })

type Write<T> = {
  method: string
  path: string
  body?: unknown
  onDone?: ((answer: T) => void) | undefined
  headers?: Record<string, string> | undefined
}

/** A write. It shows as done when the server said so; then all that the base shows is read again. */
export function useWrite<T>(base: string | undefined) {
  const client = useQueryClient()
  const { mutate, ...state } = useMutation<T, Failure, Write<T>>({
    mutationFn: (write) => once<T>(write),
    onSuccess: (answer, { onDone }) => {
      stale(client, base)
      onDone?.(answer)
    },
  })
  const send = (
    method: string,
    path: string,
    body?: unknown,
    onDone?: Write<T>['onDone'],
    headers?: Write<T>['headers'],
  ) => mutate({ method, path, body, onDone, headers })
  return { ...state, send }
}

/** Keys of writes whose answer was lost: sent again, they are the same act. */
const unanswered = new Map<string, string>()

async function once<T>({ method, path, body, headers = {} }: Write<T>): Promise<T> {
  if (method !== 'POST' || body instanceof Blob) return send<T>(method, path, body, { headers })
  const text = JSON.stringify([path, body])
  const key = unanswered.get(text) ?? newKey()
  unanswered.set(text, key)
  const forget = () => unanswered.delete(text)
  try {
    const answer = await send<T>(method, path, body, { headers: { 'idempotency-key': key, ...headers } })
    forget()
    return answer
  } catch (error) {
    if (error instanceof Failure && error.status > 0 && error.status < 500) forget()
    throw error
  }
}

/** Reads again what is in sight of a base and its previews, or only what the named record types concern. */
export function stale(client: QueryClient, base: string | undefined, types?: readonly string[]): void {
  void client.invalidateQueries({
    predicate: ({ queryKey: [path] }) => {
      if (typeof path !== 'string') return false
      if (base === undefined) return true
      const [, of] = /^\/v1\/([^/?]+)\//.exec(path) ?? []
      const isPreview =
        of?.startsWith(`${encodeURIComponent(base)}--`) && (!types || types.includes('preview'))
      if (of !== encodeURIComponent(base) && !isPreview) return false
      const [, type] = /\/records\/([^/?]+)/.exec(path) ?? []
      if (!types || type === undefined || types.includes(decodeURIComponent(type))) return true
      return types.includes('relationship') && path.includes('/related')
    },
  })
}

/** A receiver answers within this time, or the next look shows it. */
const SOON_MS = 2000
export const staleSoon = (client: QueryClient, base: string) =>
  void setTimeout(() => stale(client, base), SOON_MS)

export const useBases = () => useRead<Page<Base>>(pathOf(['bases'], { limit: 1000 }))
export const useBase = (base: string, options: Options = {}) =>
  useRead<Base>(pathOf(['bases', base]), options)
/** The first ones first: what a base is about is mostly defined before what was added to it. */
const oldestFirst = ({ data }: Page<RecordType>) => data.toReversed()
export const useTypes = (base: string) =>
  useRead(pathOf([base, 'record-types'], { limit: 1000 }), { select: oldestFirst })
export const useType = (base: string, type: string) => useTypes(base).data?.find(({ id }) => id === type)
/** Counts in as few requests as the server takes: a field of GraphQL for each. What makes `under` stale makes them stale too. */
export function useCounted<Each>(base: string, under: string, counts: readonly string[]) {
  const fields = counts.map((field, at) => `c${at}: ${field}`)
  // More than 50 aliases are refused.
  const parts = fields.flatMap((_, at) => (at % 50 === 0 ? [fields.slice(at, at + 50).join(' ')] : []))
  return useQueries({
    queries: parts.map((part) => {
      const body = { query: `query ($base: String!) { ${part} }`, variables: { base } }
      const read = asking<{ data: Record<string, Each> }>('/graphql', body, { under: pathOf([base, under]) })
      return { ...read, placeholderData: keepPreviousData }
    }),
    combine: (read) =>
      read.every(({ data }) => data) && read.flatMap(({ data }) => Object.values(data?.data ?? {})),
  })
}

/** How many records each type has, whatever the number of types. */
export function useRecordCounts(
  base: string,
  types: readonly RecordType[],
): Record<string, number | undefined> {
  const count = 'aggregations: [{ fn: "count" }]) { rows }'
  const asked = types.map(({ id }) => `aggregate(base: $base, recordType: ${JSON.stringify(id)}, ${count}`)
  const found = useCounted<{ rows: { count: number }[] } | null>(base, 'records', asked)
  return Object.fromEntries(types.map(({ id }, at) => [id, found ? found[at]?.rows[0]?.count : undefined]))
}

const changeOf = (base: string, seq: number) =>
  pathOf([base, 'changes'], { after: seq - 1, limit: 1, include: 'before', max_string: 300 })

/** A change, with the values before it. */
export const useChange = (base: string, seq: number): Change | undefined =>
  useRead<Page<Change>>(changeOf(base, seq)).data?.data.find((change) => change.seq === seq)

/** Who made some changes, each once. */
export const useChangers = (base: string, seqs: readonly number[]): string[] =>
  useQueries({
    queries: seqs.map((seq) => reading<Page<Change>>(changeOf(base, seq))),
    combine: (read) => [...new Set(read.flatMap(({ data }) => data?.data[0]?.actor.name ?? []))],
  })

/** What triggers are called. */
export function useTriggerNames(base: string): (id: string) => string {
  const path = pathOf([base, 'triggers'], { limit: 1000 })
  const all = useRead<Page<{ id: string; name: string | null }>>(path).data?.data
  return (id) => all?.find((each) => each.id === id)?.name ?? id
}

/** What waits for a person: the newest, and how many there are. */
export const useWaiting = (base: string) =>
  useRead<Page<ReviewRequest>>(
    pathOf([base, 'review-requests'], { state: 'open', limit: 4, include_total: true }),
  )

/** A delivery fails long after the change that it is of. */
const FAILS_MS = 20_000

/** Deliveries that nothing sends any more: given up, or refused. How many there are is known with the first one. */
export function useFailing(
  base: string,
  since = '24h',
  { limit = 100, ...options }: Options & { limit?: number } = {},
) {
  const from = /^\d+[mhd]$/.test(since) ? since : new Date(since).toISOString()
  const of = (status: string) =>
    pathOf([base, 'deliveries'], { status, since: from, limit, include_total: true })
  const dead = useRead<Page<Delivery>>(of('dead'), { keep: true, every: FAILS_MS, ...options })
  const refused = useRead<Page<Delivery>>(of('failed'), { keep: true, every: FAILS_MS, ...options })
  const total = (dead.data?.meta.total ?? 0) + (refused.data?.meta.total ?? 0)
  const all = [...(dead.data?.data ?? []), ...(refused.data?.data ?? [])]
  return { total, all, isPending: dead.isPending || refused.isPending }
}
