/** What a base does by itself: what it sends, takes, runs and reads, and what became of it. */
import { useMemo } from 'react'
import { pathOf, useAsk, usePagesOf, useRead } from '../../api/queries.ts'
import type { Actor, Data, Delivery, Json, Page, RecordType } from '../../api/shapes.ts'
import { words } from '../../words.ts'

export type Trigger = {
  id: string
  name: string | null
  description: string | null
  record_types: string[]
  events: string[]
  condition: Json
  url: string | null
  action: string | null
  enabled: boolean
  max_attempts: number | null
  status: { disabled_reason: string | null } | null
}
export type Inbound = {
  id: string
  name: string | null
  record_type: string
  enabled: boolean
  ingest_url: string
  signature: { scheme: string; header?: string }
  status: { refused: number; last_refused_at: string | null } | null
}
export type Action = {
  id: string
  name: string | null
  description: string | null
  steps: { name: string; type: string }[]
}
export type Source = { id: string; name: string; type: RecordType; calls: string[]; host: string }
export type Run = {
  id: string
  status: string
  input: Data
  steps: { name: string; type: string; status: string }[] | null
  error: { code: string; message: string } | null
  duration_ms: number
  actor: Actor
  created_at: string
}

export const KINDS = ['trigger', 'inbound_webhook', 'action', 'source'] as const
export type Kind = (typeof KINDS)[number]
/** One of them, whatever it is. */
export type Automatic = { id: string; name: string; isOn: boolean; hint?: string } & (
  | { kind: 'trigger'; is: Trigger }
  | { kind: 'inbound_webhook'; is: Inbound }
  | { kind: 'action'; is: Action }
  | { kind: 'source'; is: Source }
)

const ALL = { limit: 1000 }

export function useAutomation(base: string) {
  const triggers = useRead<Page<Trigger>>(pathOf([base, 'triggers'], ALL))
  const inbound = useRead<Page<Inbound>>(pathOf([base, 'inbound-webhooks'], ALL))
  const actions = useRead<Page<Action>>(pathOf([base, 'actions'], ALL))
  const types = useRead<Page<Sourced>>(pathOf([base, 'record-types'], ALL))
  const reads = [triggers, inbound, actions, types]
  const rows: Automatic[] = [
    ...(triggers.data?.data ?? []).map((is): Automatic => {
      const { id, name, enabled: isOn } = is
      const hint = is.status?.disabled_reason
      return { kind: 'trigger', id, name: name ?? id, isOn, ...(hint && { hint }), is }
    }),
    ...(inbound.data?.data ?? []).map((is): Automatic => {
      const { id, name, enabled: isOn } = is
      return { kind: 'inbound_webhook', id, name: name ?? id, isOn, is }
    }),
    ...(actions.data?.data ?? []).map(
      (is): Automatic => ({ kind: 'action', id: is.id, name: is.name ?? is.id, isOn: true, is }),
    ),
    ...(types.data?.data ?? [])
      .flatMap(sourcesOf)
      .map((is): Automatic => ({ kind: 'source', id: is.id, name: is.name, isOn: true, is })),
  ]
  return {
    rows,
    error: reads.find(({ error }) => error)?.error ?? null,
    isPending: reads.some(({ isPending }) => isPending),
    refetch: () => void Promise.all(reads.map(({ refetch }) => refetch())),
  }
}

type SourceDefinition = { name: string } & Partial<
  Record<'get' | 'list' | 'create' | 'update', { url: string } | null>
>
type Sourced = RecordType & { sources?: SourceDefinition[] }
const CALLS = ['list', 'get', 'create', 'update'] as const

const sourcesOf = (type: Sourced): Source[] =>
  (type.sources ?? []).map((source) => {
    const calls = CALLS.filter((call) => source[call])
    const [first] = calls.map((call) => source[call]?.url ?? '')
    return { id: `${type.id}/${source.name}`, name: source.name, type, calls, host: hostOf(first ?? '') }
  })
/** An address of an agent, or a template of one. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)

export const SPANS = ['24h', '7d', '30d'] as const
export type Span = (typeof SPANS)[number]

/** Deliveries by how they ended. */
export type Counts = { sent: number; failed: number }
const ENDS = { sent: ['succeeded'], failed: ['dead', 'failed'] } as const

type Totals = { data?: Record<string, { total: number } | null> }

/** How the deliveries of each ended: one request, whatever their number. */
export function useCounts(base: string, rows: readonly Automatic[], span: Span) {
  const ids = rows.flatMap(({ kind, id }) => (kind === 'trigger' || kind === 'inbound_webhook' ? [id] : []))
  const names = ids.join(' ')
  const query = useMemo(() => {
    const fields = names.split(' ').flatMap((id, at) =>
      Object.values(ENDS)
        .flat()
        .map(
          (status) =>
            `${status}${at}: deliveries(base: $base, of: ${JSON.stringify(id)}, status: "${status}", since: "${span}", limit: 1, includeTotal: true) { total }`,
        ),
    )
    return { query: `query ($base: String!) { ${fields.join(' ')} }`, variables: { base } }
  }, [base, names, span])
  const answer = useAsk<Totals>('/graphql', query, {
    enabled: ids.length > 0,
    keep: true,
    under: pathOf([base, 'deliveries']),
  })
  return (id: string): Counts | undefined => {
    const { data } = answer.data ?? {}
    const at = ids.indexOf(id)
    if (!data || at < 0) return undefined
    const sum = (statuses: readonly string[]) =>
      statuses.reduce((before, status) => before + (data[`${status}${at}`]?.total ?? 0), 0)
    return { sent: sum(ENDS.sent), failed: sum(ENDS.failed) }
  }
}

/** The deliveries of one, of all ends or one of them. */
export const useDeliveries = (base: string, of: string, status: string | undefined, span: Span) =>
  usePagesOf<Delivery>(
    pathOf([base, 'deliveries'], { of, status, since: span, include: 'titles', limit: 50 }),
  )

/** The list of REST that one stands in. */
export const listOf = (kind: string): string => (kind === 'trigger' ? 'triggers' : 'inbound-webhooks')

/** What the log of one says more of a delivery: the answer of a receiver, or what a sender sent. */
export type Detail = {
  id: string
  response?: { status: number; body: string; duration_ms: number } | null
  body?: string | null
  error: string | { message: string; details?: { message: string }[] } | null
  records?: { id: string; operation: string }[] | null
}
export const useDetail = (base: string, { of, status, id }: Delivery): Detail | undefined => {
  const log = useRead<Page<Detail>>(
    pathOf([base, listOf(of.kind), of.id, 'deliveries'], { status, limit: 100 }),
  )
  return log.data?.data.find((each) => each.id === id)
}

export const useRuns = (base: string, action: string, status: string | undefined) =>
  useRead<Page<Run>>(pathOf([base, 'actions', action, 'runs'], { status, limit: 50 }), { keep: true })

/** The state of a delivery as a person says it. What a sender sent is taken or refused, and never tried again. */
export const stateOf = ({ status, direction }: Pick<Delivery, 'status' | 'direction'>): string =>
  words.automation.states[direction][status]
