/** What a base does by itself, in a sentence too: what it sends, takes, runs and reads, and what became of it. */
import { pathOf, useCounted, usePages, useRead } from '../../api/queries.ts'
import type { ActionRun, Delivery, InboundDelivery, Lists, Page, RecordType } from '../../api/shapes.ts'
import { filterWords, isFilter, nameOf, plural, pluralOf } from '../../parts/record-types.ts'
import { words } from '../../words.ts'

type Trigger = Lists['triggers']
type Inbound = Lists['inbound-webhooks']
export type Action = Lists['actions']
export type Source = { id: string; name: string; type: RecordType; calls: string[]; host: string }

export const KINDS = ['trigger', 'inbound_webhook', 'action', 'source'] as const
export type Kind = (typeof KINDS)[number]
/** One of them, whatever it is. */
export type Automatic = { id: string; name: string; isOn: boolean } & (
  | { kind: 'trigger'; is: Trigger }
  | { kind: 'inbound_webhook'; is: Inbound }
  | { kind: 'action'; is: Action }
  | { kind: 'source'; is: Source }
)
type Named = { id: string; name: string; enabled?: boolean }
const rowsOf = <Of extends Kind, Is extends Named>(kind: Of, all: readonly Is[] = []) =>
  all.map((is) => ({ kind, id: is.id, name: is.name, isOn: is.enabled ?? true, is }))

/** Why the server stopped it. */
export const stopOf = ({ kind, is }: Automatic) =>
  (kind === 'trigger' && is.status?.disabled_reason) || undefined

const ALL = { limit: 1000 }

export function useAutomation(base: string) {
  const triggers = useRead<Page<Trigger>>(pathOf([base, 'triggers'], ALL))
  const inbound = useRead<Page<Inbound>>(pathOf([base, 'inbound-webhooks'], ALL))
  const actions = useRead<Page<Action>>(pathOf([base, 'actions'], ALL))
  const types = useRead<Page<RecordType>>(pathOf([base, 'record-types'], ALL))
  const reads = [triggers, inbound, actions, types]
  const rows: Automatic[] = [
    ...rowsOf('trigger', triggers.data?.data),
    ...rowsOf('inbound_webhook', inbound.data?.data),
    ...rowsOf('action', actions.data?.data),
    ...rowsOf('source', types.data?.data.flatMap(sourcesOf)),
  ]
  return {
    rows,
    error: reads.find(({ error }) => error)?.error ?? null,
    isPending: reads.some(({ isPending }) => isPending),
    refetch: () => void Promise.all(reads.map(({ refetch }) => refetch())),
  }
}

const CALLS = ['list', 'get', 'create', 'update'] as const

const sourcesOf = (type: RecordType): Source[] =>
  type.sources.map((source) => {
    const calls = CALLS.filter((call) => source[call])
    const [first] = calls.map((call) => source[call]?.url ?? '')
    return { id: `${type.id}/${source.name}`, name: source.name, type, calls, host: hostOf(first ?? '') }
  })
/** An address of an agent, or a template of one. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)

export const SPANS = ['24h', '7d', '30d'] as const
export type Span = (typeof SPANS)[number]

/** Deliveries by how they ended. */
export type Counts = { sent: number; failed: number }
const ENDS = ['succeeded', 'dead', 'failed'] as const

/** How the deliveries of each ended, whatever their number. */
export function useCounts(base: string, rows: readonly Automatic[], span: Span) {
  const ids = rows.flatMap(({ kind, id }) => (kind === 'trigger' || kind === 'inbound_webhook' ? [id] : []))
  const asked = ids.flatMap((id) =>
    ENDS.map((status) => {
      const of = `of: ${JSON.stringify(id)}, status: "${status}", since: "${span}"`
      return `deliveries(base: $base, ${of}, limit: 1, includeTotal: true) { total }`
    }),
  )
  const found = useCounted<{ total: number } | null>(base, 'deliveries', asked)
  return (id: string): Counts | undefined => {
    const at = ids.indexOf(id) * ENDS.length
    if (!found || at < 0) return undefined
    const [sent = 0, dead = 0, failed = 0] = found.slice(at, at + ENDS.length).map((each) => each?.total ?? 0)
    return { sent, failed: dead + failed }
  }
}

/** The deliveries of one, of all ends or one of them. */
export const useDeliveries = (base: string, of: string, status: string | undefined, span: Span) =>
  usePages<Delivery>(pathOf([base, 'deliveries'], { of, status, since: span, include: 'titles', limit: 50 }))

/** The list of REST that one stands in. */
export const listOf = (kind: string): string => (kind === 'trigger' ? 'triggers' : 'inbound-webhooks')

/** What a sender sent, and why it was refused, is in the log of its webhook only. */
export function useReceived(base: string, { of, status, id, direction }: Delivery) {
  const path = pathOf([base, listOf(of.kind), of.id, 'deliveries'], { status, limit: 100 })
  const log = useRead<Page<InboundDelivery>>(path, { enabled: direction === 'in' })
  return log.data?.data.find((each) => each.id === id)
}

export const useRuns = (base: string, action: string, status: string | undefined) =>
  useRead<Page<ActionRun>>(pathOf([base, 'actions', action, 'runs'], { status, limit: 50 }), { keep: true })

/** The state of a delivery as a person says it. What a sender sent is taken or refused, and never tried again. */
export const stateOf = ({ status, direction }: Pick<Delivery, 'status' | 'direction'>): string =>
  words.automation.states[direction][status]

export function saying(row: Automatic, types: readonly RecordType[]): string {
  const many = (id: string) => {
    const type = types.find((each) => each.id === id)
    return (type ? pluralOf(type) : plural(nameOf(undefined, id))).toLowerCase()
  }
  const text = words.automation.says
  if (row.kind === 'inbound_webhook') return text.makes(many(row.is.record_type))
  if (row.kind === 'action') return row.is.description ?? text.steps(row.is.steps.length)
  if (row.kind === 'source') return text.source(pluralOf(row.is.type).toLowerCase(), row.is.host)
  const { events, record_types: ids, condition, url, action } = row.is
  const when = text.when(
    events.map((event) => words.verbs[event as keyof typeof words.verbs] ?? event),
    ids.length === 0 || ids.includes('*') ? text.anything : ids.map(many).join(', '),
    isFilter(condition) ? filterWords(condition) : undefined,
  )
  return `${when} ${url === null ? text.runs(action ?? '') : text.calls(hostOf(url))}`
}
