import { digest } from '../../contract/canonical-hash.ts'
import { baseNotFound } from '../core/existing-base.ts'
import type { Scope } from '../core/scope.ts'
import { statement } from '../database/client.ts'
import type { PrincipalScope } from './execution/isolation.ts'
import type { Catalog } from './guard/relations/catalog.ts'

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
export function principalScopeOf({ access }: Scope, baseId: string): PrincipalScope {
  const types = access.types('read', baseId)
  return { baseId, recordTypes: types === '*' ? ['*'] : [...types].sort() }
}

/**
 * The catalog of a scope: the same object until the types of the base change.
 * @throws NOT_FOUND
 */
export async function catalogOf(scope: Scope, { baseId, recordTypes }: PrincipalScope): Promise<Catalog> {
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
