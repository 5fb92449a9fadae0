/** Runs one read-only SQL query of a user. */
import { DomainError, invalid } from '../../foundation/errors.ts'
import { demandSight } from '../access/access.ts'
import type { Scope } from '../core/scope.ts'
import { catalogOf, reachOf } from './catalog.ts'
import type { Column } from './execution/read-rows.ts'
import { prepareSql } from './guard/index.ts'

export type { Isolation } from './execution/isolation.ts'

export type SqlInput = { query: unknown; params?: unknown; limit?: number | null | undefined }
export type SqlResult = {
  data: readonly Readonly<Record<string, unknown>>[]
  meta: { rows: number; hasMore: boolean; columns: readonly Column[] }
}

/**
 * Runs one read-only statement over what the token may read of the base.
 * @throws FORBIDDEN without a grant on it or with the endpoint switched off, NOT_FOUND when there is no such base,
 * VALIDATION_ERROR for anything but a pure read of granted data, RATE_LIMITED while too many are under way
 */
export async function runSql(scope: Scope, baseId: string, input: SqlInput): Promise<SqlResult> {
  demandSight(scope.access, baseId)
  if (scope.sql.isolation() === 'off') throw switchedOff()
  const limit = readLimit(input.limit ?? undefined, scope.sql.limits.rows)
  const reach = reachOf(scope, baseId)
  const catalog = await catalogOf(scope, reach)
  const prepare = () => prepareSql(input.query, input.params ?? undefined, catalog)
  const { columns, rows, hasMore } = await scope.sql.run(prepare, {
    reach,
    limit,
    tokenId: scope.actor.tokenId ?? '',
    requestId: scope.requestId,
    signal: scope.closed?.(),
  })
  return { data: rows, meta: { rows: rows.length, hasMore, columns } }
}

function readLimit(limit: number | undefined, most: number): number {
  if (limit === undefined) return most
  if (Number.isInteger(limit) && limit >= 1 && limit <= most) return limit
  throw invalid({
    path: '/limit',
    code: 'out_of_range',
    message: `limit is a whole number from 1 to ${most}. For more rows, page in the statement with WHERE and ORDER BY.`,
    received: limit,
    expected: { min: 1, max: most },
  })
}

const switchedOff = () =>
  new DomainError('FORBIDDEN', 'SQL is disabled on this server.', {
    details: [
      {
        path: '',
        code: 'sql_disabled',
        message: 'Read with GET /v1/{base_id}/records/{record_type} and its filters instead.',
      },
    ],
  })
