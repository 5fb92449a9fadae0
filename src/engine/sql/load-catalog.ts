import { digest } from '../../contract/canonical-hash.ts'
import { missingBase } from '../core/existing-base.ts'
import type { Scope } from '../core/scope.ts'
import { statement } from '../storage/database/client.ts'
import type { PrincipalRights } from './execution/isolation.ts'
import { runnerOf } from './execution/runner.ts'
import type { Catalog } from './guard/relations/catalog.ts'

// A base recreated under a deleted id restarts its type counter, but has another creation time.
const VERSION = statement(
  'sql_types_version',
  `SELECT types_version || ' ' || created_at AS version FROM plinth.base WHERE id = $1`,
)
const TYPES = statement(
  'sql_types',
  `SELECT id, timezone, json_schema, octet_length(json_schema::text) AS bytes FROM plinth.record_type WHERE base_id = $1 AND ($2::text[] IS NULL OR id = ANY ($2))
   ORDER BY id`,
)

type Row = { id: string; timezone: string; json_schema: unknown; bytes: number }

/**
 * The token's read scope of the base. Tokens of equal grants share it, except for a text that can read calls, which the
 * change log has too, or usage.
 */
export function principalRightsOf(
  { access, actor, changeSet: within }: Scope,
  baseId: string,
  text: unknown,
): PrincipalRights {
  const types = access.types('read', baseId)
  const changeSet = within ?? null
  if (types === '*') return { baseId, recordTypes: ['*'], tokenId: null, changeSet }
  const readsCalls = typeof text === 'string' && READS_CALLS.test(text)
  return { baseId, recordTypes: [...types].sort(), tokenId: readsCalls ? actor.tokenId : null, changeSet }
}

/** The name of the relation, or a name in escapes. */
const READS_CALLS = /changes|calls|usage|u&/i

/**
 * The catalog of a scope. Its types are the same objects until the types of the base change, and for a token
 * that reads the whole base it is the same object.
 * @throws NOT_FOUND
 */
export async function loadCatalog(
  scope: Scope,
  { baseId, recordTypes, changeSet }: PrincipalRights,
): Promise<Catalog> {
  const catalog = await sharedCatalog(scope, baseId, recordTypes, changeSet !== null)
  return catalog.readsAll ? catalog : { ...catalog, tokenId: scope.actor.tokenId }
}

async function sharedCatalog(
  scope: Scope,
  baseId: string,
  recordTypes: readonly string[],
  readsDrafts: boolean,
): Promise<Catalog> {
  const [base] = await scope.db.query<{ version: string }>(VERSION, [baseId])
  if (!base) throw await missingBase(scope, baseId)
  const key = digest([baseId, recordTypes, readsDrafts])
  const known = runnerOf(scope).catalogs.get(key)
  if (known?.version === base.version) return known.catalog
  const readsAll = recordTypes[0] === '*'
  const rows = await scope.db.query<Row>(TYPES, [baseId, readsAll ? null : recordTypes])
  const types = rows.map(({ id, timezone, json_schema }) => ({ id, timezone, jsonSchema: json_schema }))
  const catalog: Catalog = { baseId, readsAll, readsDrafts, tokenId: null, types }
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0)
  runnerOf(scope).catalogs.set(key, { version: base.version, catalog, bytes })
  return catalog
}
