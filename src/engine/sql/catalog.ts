import { digest } from '../../contract/canonical-hash.ts'
import { baseNotFound } from '../configuration/bases/index.ts'
import type { Scope } from '../core/scope.ts'
import { statement } from '../database/client.ts'
import type { Reach } from './execution/principal-scope.ts'
import type { Catalog } from './guard/index.ts'

// A base made again under the id of a deleted one counts its types from 0 again, but at another time.
const VERSION = statement(
  'sql_types_version',
  `SELECT types_version || ' ' || created_at AS version FROM plinth.base WHERE id = $1`,
)
const TYPES = statement(
  'sql_types',
  `SELECT id, timezone, json_schema FROM plinth.record_type WHERE base_id = $1 AND ($2::text[] IS NULL OR id = ANY ($2))
   ORDER BY id`,
)

/** What the token may read of the base. */
export function reachOf({ access }: Scope, baseId: string): Reach {
  const types = access.types('read', baseId)
  return { baseId, recordTypes: types === '*' ? ['*'] : [...types].sort() }
}

/** The relations of a reach: one object for as long as the types of the base stay as they are. @throws NOT_FOUND */
export async function catalogOf(scope: Scope, { baseId, recordTypes }: Reach): Promise<Catalog> {
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
