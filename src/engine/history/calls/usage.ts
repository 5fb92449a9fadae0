/** Lists how much tokens used of a base. */
import { readMoment } from '../../../contract/time-input.ts'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { requireBase } from '../../core/existing-base.ts'
import { read, type Scope } from '../../core/scope.ts'
import { Parameters } from '../../data/filter/parameters.ts'
import { written } from '../../data/ledger/record.ts'
import type { Change } from '../../log/entry.ts'
import { requireKnownBase } from '../../storage/access/access.ts'
import { shaped } from '../../storage/database/client.ts'
import { readsAll, requireTexts } from './list.ts'

/** By what usage is added up; undefined: all together. */
type UsageKey = 'token' | 'endpoint' | 'tool' | 'surface'
type UsageInterval = 'hour' | 'day'

/** What an answer has as its row has it. */
type Added = {
  endpoint: string | null
  tool: string | null
  surface: string | null
  calls: number
  failed: number
  reads: number
  changes: number
  ms: number
}

/** What was used in an interval. The keys that it is not added up by are null. */
export type Usage = Added & {
  at: string
  token: { tokenId: string; name: string; kind: Change['actor']['kind'] } | null
  bytesIn: number
  bytesOut: number
}

export type UsageArgs = {
  since?: string | null | undefined
  until?: string | null | undefined
  interval?: UsageInterval | null | undefined
  by?: UsageKey | null | undefined
  /** Id or name of a token. */
  token?: string | null | undefined
  tool?: string | null | undefined
  endpoint?: string | null | undefined
}

type Row = Added & {
  at: Date | string
  token_id: string | null
  name: string
  kind: Change['actor']['kind']
  bytes_in: number
  bytes_out: number
}

const SUMS = ['calls', 'failed', 'reads', 'changes', 'bytes_in', 'bytes_out', 'ms']
const KEYS: Readonly<Record<UsageKey, string>> = {
  token: 'token_id',
  endpoint: 'endpoint',
  tool: 'tool',
  surface: 'surface',
}

/**
 * How much was used of a base, oldest first: by all tokens for one that reads the whole base, else by itself.
 * @throws FORBIDDEN, NOT_FOUND, VALIDATION_ERROR
 */
export async function listUsage(scope: Scope, baseId: string, args: UsageArgs): Promise<Usage[]> {
  requireKnownBase(scope.access, baseId)
  const { token, tool, endpoint, interval, by } = args
  requireTexts({ token, tool, endpoint })
  const [since, until] = boundsOf(args)
  const parameters = new Parameters()
  const is = (column: string, value: string | null | undefined) =>
    value == null ? [] : [`${column} = ${parameters.add(value)}`]
  const conditions = [
    ...is('base_id', baseId),
    `hour >= ${parameters.add(since)} AND hour < ${parameters.add(until)}`,
    ...(readsAll(scope, baseId) ? [] : is('token_id', scope.actor.tokenId ?? '')),
    ...(token == null ? [] : [`${parameters.add(token)} IN (token_id, actor_name)`]),
    ...is('tool', tool),
    ...is('endpoint', endpoint),
  ]
  const at =
    interval == null ? `${parameters.add(since)}::timestamptz` : `date_trunc('${interval}', hour, 'UTC')`
  await scope.calls.settleUsage()
  const { text, values } = parameters.bind(statementOf({ at, by, conditions }))
  const rows = await read<Row>(scope, shaped(text), values)
  if (rows.length === 0) await requireBase(scope, baseId)
  if (rows.length > LIMITS.usageAnswerRows) throw tooMany()
  return rows.map(toUsage)
}

const statementOf = ({
  at,
  by,
  conditions,
}: {
  at: string
  by: UsageKey | null | undefined
  conditions: string[]
}) => {
  const groups = by == null ? [] : [KEYS[by]]
  const keys = Object.values(KEYS).map(
    (name) => `${groups.includes(name) ? `nullif(${name}, '')` : 'NULL'} AS ${name}`,
  )
  return `SELECT ${at} AS at, ${keys.join(', ')}, max(actor_name) AS name, max(coalesce(actor_kind, 'program')) AS kind,
      ${SUMS.map((name) => `sum(${name})::float8 AS ${name}`).join(', ')}
    FROM plinth.usage WHERE ${conditions.join(' AND ')} GROUP BY ${['1', ...groups].join(', ')}
    ORDER BY ${['1', 'calls DESC', 'changes DESC', ...groups].join(', ')} LIMIT ${LIMITS.usageAnswerRows + 1}`
}

const HOUR_MS = 3_600_000
const DEFAULT_SPAN_MS = { hour: 24 * HOUR_MS, day: 30 * 24 * HOUR_MS } as const

/** Whole hours, since usage is added up by them. */
function boundsOf({ since, until, interval }: UsageArgs): readonly [since: Date, until: Date] {
  const to = until == null ? new Date() : readMoment(until)
  const span = DEFAULT_SPAN_MS[interval ?? 'hour']
  const from = since == null ? Math.max(0, to.getTime() - span) : readMoment(since).getTime()
  const begin = new Date(Math.floor(from / HOUR_MS) * HOUR_MS)
  if (begin < to) return [begin, to]
  throw invalid({
    path: '/since',
    code: 'out_of_range',
    message: 'since must be before until.',
    received: since ?? null,
  })
}

const tooMany = () =>
  invalid({
    path: '/since',
    code: 'too_many',
    message: `The answer has more than ${LIMITS.usageAnswerRows} rows. Send a later since, interval=day, or a token.`,
  })

const toUsage = ({ at, token_id, name, kind, bytes_in, bytes_out, ...added }: Row): Usage => ({
  ...added,
  at: written(at),
  token: token_id === null ? null : { tokenId: token_id, name, kind },
  bytesIn: bytes_in,
  bytesOut: bytes_out,
})
