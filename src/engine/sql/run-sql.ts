/** SQL endpoint: runs one read-only query of a user. */

import { advised } from '../../foundation/advised-requests.ts'
import { invalid, oneFault } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Scope } from '../core/scope.ts'
import { subscriberOf } from '../log/stream-limits.ts'
import { requireBaseAccess } from '../storage/access/access.ts'
import { withPlace } from './conversion-errors.ts'
import type { Column, SqlChunk } from './execution/read-rows.ts'
import { runnerOf } from './execution/runner.ts'
import type { FindConversions } from './guard/conversions.ts'
import { prepareSql } from './guard/prepare.ts'
import { loadCatalog, principalRightsOf } from './load-catalog.ts'

export type { Isolation } from './execution/isolation.ts'
export type { SqlChunk } from './execution/read-rows.ts'

export type SqlInput = { query: unknown; params?: unknown; limit?: number | null | undefined }
export type SqlResult = {
  data: readonly Readonly<Record<string, unknown>>[]
  meta: { rows: number; hasMore: boolean; columns: readonly Column[]; hint: string | null }
}

/**
 * Runs one read-only statement over the data of a base that the token may read.
 * @throws FORBIDDEN without a grant or with the endpoint disabled, NOT_FOUND without the base,
 * VALIDATION_ERROR for anything but a pure read of granted data, RATE_LIMITED above the concurrency limit
 */
export async function runSql(scope: Scope, baseId: string, input: SqlInput): Promise<SqlResult> {
  const { run, advice } = await openSql(scope, baseId, input)
  const { columns, rows, hasMore } = await run((prepare, request) => runnerOf(scope).run(prepare, request))
  const hint = advice().length > 0 ? advice().slice(0, LIMITS.sqlAdvice).join(' ') : null
  return { data: rows, meta: { rows: rows.length, hasMore, columns, hint } }
}

/**
 * All rows of one read-only statement, of one snapshot, as the reader takes them. It fails if the rights of the token change.
 * @throws as `runSql`, before the first rows; RATE_LIMITED above the limit of the token or the process
 */
export async function* streamSql(
  scope: Scope,
  baseId: string,
  input: Omit<SqlInput, 'limit'>,
): AsyncGenerator<SqlChunk> {
  const { run } = await openSql(scope, baseId, input)
  const slot = scope.feed.openStream(subscriberOf(scope), baseId, scope.closed?.())
  const chunks = await run(async (prepare, request) =>
    runnerOf(scope).stream(prepare, { ...request, signal: slot.signal }),
  )
  try {
    for (;;) {
      const { done, value } = await run(() => chunks.next())
      if (done) return
      yield value
    }
  } finally {
    await chunks.return(undefined)
    slot.end()
  }
}

type Prepare = () => ReturnType<typeof prepareSql>

/** Checks the rights for a statement. What `run` throws has its place in the request. */
async function openSql(scope: Scope, baseId: string, input: SqlInput) {
  requireBaseAccess(scope.access, baseId)
  requireSql(scope)
  const limit = readLimit(input.limit ?? undefined, runnerOf(scope).limits.rows)
  const principal = principalRightsOf(scope, baseId, input.query)
  const catalog = await loadCatalog(scope, principal)
  let advice: readonly string[] = []
  let conversions: FindConversions = () => []
  const prepare: Prepare = async () => {
    const prepared = await prepareSql(input.query, input.params ?? undefined, catalog)
    advice = prepared.advice
    conversions = prepared.conversions
    return prepared
  }
  const request = {
    principal,
    limit,
    freshness: scope.freshness,
    tokenId: scope.actor.tokenId ?? '',
    requestId: scope.requestId,
    signal: scope.closed?.(),
  }
  return {
    advice: () => advice,
    run: <T>(work: (prepare: Prepare, about: typeof request) => Promise<T>): Promise<T> =>
      work(prepare, request).catch((thrown: unknown) => {
        throw withPlace(thrown, conversions)
      }),
  }
}

function readLimit(limit: number | undefined, most: number): number {
  if (limit === undefined) return most
  if (Number.isInteger(limit) && limit >= 1 && limit <= most) return limit
  throw invalid({
    path: '/limit',
    code: 'out_of_range',
    message: `limit must be a whole number from 1 to ${most}. For more rows, page in the statement with WHERE and ORDER BY.`,
    received: limit,
    expected: { min: 1, max: most },
  })
}

/**
 * Checks that SQL is enabled.
 * @throws FORBIDDEN
 */
export function requireSql(scope: Scope): void {
  if (runnerOf(scope).isolation() === 'off') throw switchedOff()
}

const switchedOff = () =>
  oneFault('FORBIDDEN', 'SQL is disabled on this server.', {
    path: '',
    code: 'sql_disabled',
    message: `Read with ${advised('list_records')} and its filters instead.`,
  })
