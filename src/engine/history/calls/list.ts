/** Lists the calls of a base. */
import { meantValue } from '../../../contract/suggest.ts'
import { readMoment } from '../../../contract/time-input.ts'
import { FAILURES, invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { requireBase } from '../../core/existing-base.ts'
import { readPage } from '../../core/page.ts'
import { read, type Scope } from '../../core/scope.ts'
import { Parameters } from '../../data/filter/parameters.ts'
import { written } from '../../data/ledger/record.ts'
import { SUCCESSES, type Surface } from '../../log/calls/made-call.ts'
import { type AuthorRow, authorIn, type Change } from '../../log/entry.ts'
import { badText } from '../../log/filter.ts'
import { requireKnownBase } from '../../storage/access/access.ts'
import { shaped } from '../../storage/database/client.ts'

/** A call that was made. */
export type Call = {
  id: string
  at: string
  actor: Change['actor']
  surface: Surface
  endpoint: string | null
  tool: string | null
  route: string | null
  outcome: string
  message: string | null
  ms: number
  bytesIn: number
  bytesOut: number
  arguments: string | null
  requestId: string
  changes: number
}

type CallFilter = {
  /** Id or name of a token. */
  token?: string | null | undefined
  tool?: string | null | undefined
  endpoint?: string | null | undefined
  /** An outcome, or `failed`. */
  outcome?: string | null | undefined
  since?: string | null | undefined
  until?: string | null | undefined
  requestId?: string | null | undefined
}
export type CallArgs = CallFilter & {
  /** The id of a call to end before. */
  before?: string | null | undefined
  limit?: number | null | undefined
}
export type CallPage = { data: Call[]; hasMore: boolean; limit: number; nextBefore: string | null }

type Row = AuthorRow & {
  id: string
  at: Date | string
  surface: Surface
  endpoint: string | null
  tool: string | null
  route: string | null
  outcome: string
  message: string | null
  ms: number
  bytes_in: number
  bytes_out: number
  arguments: string | null
  request_id: string
  changes: number
}

const COLUMNS = `id::text, at, token_id, actor_name, actor_kind, via, surface, endpoint, tool, route, outcome, message, ms,
  bytes_in::float8 AS bytes_in, bytes_out::float8 AS bytes_out, arguments, request_id, changes`

/**
 * Lists the calls of a base, newest first: all of them for a token that reads the whole base, else its own.
 * @throws FORBIDDEN, NOT_FOUND, VALIDATION_ERROR
 */
export async function listCalls(
  scope: Scope,
  baseId: string,
  { before, limit: most, ...filter }: CallArgs,
): Promise<CallPage> {
  requireKnownBase(scope.access, baseId)
  const { limit } = readPage({ limit: most })
  const parameters = new Parameters()
  const conditions = conditionsFor(scope, baseId, filter, parameters)
  if (before != null) conditions.push(`id < ${parameters.add(readId(before))}::uuid`)
  await scope.calls.settle()
  const { text, values } = parameters.bind(
    `SELECT ${COLUMNS} FROM plinth.call WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT ${limit + 1}`,
  )
  const rows = await read<Row>(scope, shaped(text), values)
  if (rows.length === 0) await requireBase(scope, baseId)
  const data = rows.slice(0, limit).map(toCall)
  const hasMore = rows.length > limit
  return { data, hasMore, limit, nextBefore: hasMore ? (data.at(-1)?.id ?? null) : null }
}

function conditionsFor(scope: Scope, baseId: string, filter: CallFilter, parameters: Parameters): string[] {
  const { token, tool, endpoint, outcome, since, until, requestId } = readable(filter)
  const is = (column: string, value: string | null | undefined) =>
    value == null ? [] : [`${column} = ${parameters.add(value)}`]
  const from = since == null ? undefined : readMoment(since)
  const to = until == null ? undefined : readMoment(until)
  return [
    `base_id = ${parameters.add(baseId)}`,
    ...(readsAll(scope, baseId) ? [] : is('token_id', scope.actor.tokenId ?? '')),
    ...(token == null ? [] : [`${parameters.add(token)} IN (token_id, actor_name)`]),
    ...is('tool', tool),
    ...is('endpoint', endpoint),
    ...(outcome === FAILED ? [FAILING] : is('outcome', outcome)),
    ...is('request_id', requestId),
    // Ids are of the time, so they bound what is read.
    ...(from ? [`id >= ${parameters.add(firstIdOf(from))}::uuid AND at >= ${parameters.add(from)}`] : []),
    ...(to
      ? [
          `id < ${parameters.add(firstIdOf(new Date(to.getTime() + DRIFT_MS)))}::uuid AND at < ${parameters.add(to)}`,
        ]
      : []),
  ]
}

const FAILED = 'failed'
const FAILING = `outcome NOT IN (${SUCCESSES.map((success) => `'${success}'`).join(', ')})`
/** Ids made at the same time get ahead of the clock. */
const DRIFT_MS = 60_000

/** Whether the token sees the calls of others. */
export const readsAll = ({ access, policy }: Scope, baseId: string): boolean =>
  policy === undefined && access.allows('read', baseId, '*')

const firstIdOf = (moment: Date): string =>
  `${Math.max(0, moment.getTime()).toString(16).padStart(12, '0')}${'0'.repeat(20)}`

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function readId(id: string): string {
  if (UUID.test(id)) return id
  throw invalid({
    path: '/before',
    code: 'invalid_id',
    message: 'before must be the id of a call.',
    received: id.slice(0, 64),
  })
}

/** @throws VALIDATION_ERROR for texts that nothing has */
function readable({ since, until, requestId, ...filter }: CallFilter): CallFilter {
  requireTexts({ ...filter, request_id: requestId })
  if (filter.outcome != null) requireOutcome(filter.outcome)
  return { ...filter, since, until, requestId }
}

// `refused` is a request whose surface says no code.
const OUTCOMES = [...SUCCESSES, FAILED, 'refused', ...Object.keys(FAILURES)]
/** A failure of MCP itself. */
const CODE_OF_MCP = /^-?\d{1,9}$/

/** @throws VALIDATION_ERROR for an outcome that no call has */
function requireOutcome(outcome: string): void {
  if (OUTCOMES.includes(outcome) || CODE_OF_MCP.test(outcome)) return
  const meant = meantValue(outcome, OUTCOMES)
  throw invalid({
    path: '/outcome',
    code: 'enum',
    message: `outcome must be ok, input_required, cancelled, failed, a code of a failure, or a number such as -32602.${meant ? ` Did you mean "${meant}"?` : ''}`,
    received: outcome.slice(0, 64),
    allowed: OUTCOMES,
  })
}

/** @throws VALIDATION_ERROR for texts that nothing has */
export function requireTexts(texts: Readonly<Record<string, string | null | undefined>>): void {
  const [first, ...rest] = Object.entries(texts)
    .filter(([, text]) => text != null && (text === '' || text.length > LIMITS.logFilterChars))
    .map(([name]) => badText(name))
  if (first) throw invalid(first, ...rest)
}

const toCall = ({ request_id, bytes_in, bytes_out, ...row }: Row): Call => ({
  id: row.id,
  at: written(row.at),
  actor: authorIn(row),
  surface: row.surface,
  endpoint: row.endpoint,
  tool: row.tool,
  route: row.route,
  outcome: row.outcome,
  message: row.message,
  ms: row.ms,
  bytesIn: bytes_in,
  bytesOut: bytes_out,
  arguments: row.arguments,
  requestId: request_id,
  changes: row.changes,
})
