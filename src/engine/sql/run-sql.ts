/** SQL endpoint: runs one read-only query of a user. */
import { digest } from '../../contract/canonical-hash.ts'
import { DomainError, invalid } from '../../foundation/errors.ts'
import { requireBaseAccess } from '../access/access.ts'
import { baseNotFound } from '../configuration/bases/index.ts'
import type { Scope } from '../core/scope.ts'
import { statement } from '../database/client.ts'
import type { PrincipalScope } from './execution/isolation.ts'
import type { Column } from './execution/read-rows.ts'
import { prepareSql } from './guard/prepare.ts'
import type { Catalog } from './guard/relations/catalog.ts'

export type { Isolation } from './execution/isolation.ts'

export type SqlInput = { query: unknown; params?: unknown; limit?: number | null | undefined }
export type SqlResult = {
  data: readonly Readonly<Record<string, unknown>>[]
  meta: { rows: number; hasMore: boolean; columns: readonly Column[] }
}

/**
 * Runs one read-only statement over the data of a base that the token may read.
 * @throws FORBIDDEN without a grant or with the endpoint disabled, NOT_FOUND without the base,
 * VALIDATION_ERROR for anything but a pure read of granted data, RATE_LIMITED above the concurrency limit
 */
export async function runSql(scope: Scope, baseId: string, input: SqlInput): Promise<SqlResult> {
  requireBaseAccess(scope.access, baseId)
  if (scope.sql.isolation() === 'off') throw switchedOff()
  const limit = readLimit(input.limit ?? undefined, scope.sql.limits.rows)
  const principal = principalScopeOf(scope, baseId)
  const catalog = await catalogOf(scope, principal)
  const prepare = () => prepareSql(input.query, input.params ?? undefined, catalog)
  const { columns, rows, hasMore } = await scope.sql.run(prepare, {
    principal,
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

// A base recreated under a deleted id restarts its type counter, but has another creation time.
const VERSION = statement(
  'sql_types_version',
  `SELECT types_version || ' ' || created_at AS version FROM plinth.base WHERE id = $1`,
)
const TYPES = statement(
  'sql_types',
  `SELECT id, timezone, json_schema FROM plinth.record_type WHERE base_id = $1 AND ($2::text[] IS NULL OR id = ANY ($2))
   ORDER BY id`,
)

/** The token's read scope of the base. */
function principalScopeOf({ access }: Scope, baseId: string): PrincipalScope {
  const types = access.types('read', baseId)
  return { baseId, recordTypes: types === '*' ? ['*'] : [...types].sort() }
}

/**
 * The catalog of a scope: the same object until the types of the base change.
 * @throws NOT_FOUND
 */
async function catalogOf(scope: Scope, { baseId, recordTypes }: PrincipalScope): Promise<Catalog> {
  const [base] = await scope.db.query<{ version: string }>(VERSION, [baseId])
  if (!base) throw baseNotFound(baseId)
  const key = digest([baseId, recordTypes])
  const known = scope.sql.catalogs.get(key)
  if (known?.version === base.version) return known.catalog
  const readsAll = recordTypes[0] === '*'
  const rows = await scope.db.query<{ id: string; timezone: string; json_schema: unknown }>(TYPES, [
    baseId,
    readsAll ? null : recordTypes,
  ])
  const types = rows.map(({ id, timezone, json_schema }) => ({ id, timezone, jsonSchema: json_schema }))
  const catalog: Catalog = { baseId, readsAll, types }
  scope.sql.catalogs.set(key, { version: base.version, catalog })
  return catalog
}
