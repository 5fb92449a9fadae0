import type { CompiledType } from '../compiled-types/compiled-type.ts'
import { statement } from '../database/client.ts'
import { COMPILED_INDEXES, type CompiledIndex } from '../indexes/index.ts'
import { compileSchema } from '../json-schema/compile.ts'
import type { Scope } from './scope.ts'

type Row = {
  version: number
  revision: number
  timezone: string
  json_schema: unknown
  indexes: CompiledIndex[]
}

const GET_TYPE = statement(
  'get_type',
  `SELECT version, revision, timezone, json_schema, ${COMPILED_INDEXES} AS indexes
   FROM plinth.record_type t WHERE base_id = $1 AND id = $2`,
)

/** Loads a compiled record type through the cache. Returns undefined when there is none. */
export async function findType(scope: Scope, baseId: string, id: string): Promise<CompiledType | undefined> {
  const known = scope.caches.live() ? scope.caches.types.get(`${baseId}/${id}`) : undefined
  return known ?? (await reloadType(scope, baseId, id))
}

/** Loads a compiled record type from the database and replaces the cached one. */
export async function reloadType(
  scope: Scope,
  baseId: string,
  id: string,
): Promise<CompiledType | undefined> {
  const before = scope.caches.forgotten()
  const [row] = await scope.db.query<Row>(GET_TYPE, [baseId, id])
  if (!row) return undefined
  const key = `${baseId}/${id}`
  const cached = scope.caches.types.get(key)
  // Reuse the validator for an unchanged schema, so that an invalidation does not cost a compilation.
  const unchanged =
    cached?.version === row.version && JSON.stringify(cached.jsonSchema) === JSON.stringify(row.json_schema)
  const type: CompiledType = {
    baseId,
    id,
    version: row.version,
    revision: row.revision,
    timezone: row.timezone,
    jsonSchema: row.json_schema,
    schema: unchanged ? cached.schema : compileSchema(row.json_schema, '/json_schema'),
    indexes: row.indexes,
  }
  // State read in a transaction may be uncommitted, so it is not cached.
  const isCacheable = !scope.db.isTransaction && scope.caches.forgotten() === before
  if (isCacheable) scope.caches.types.set(key, type)
  return type
}
