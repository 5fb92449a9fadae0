import type { Source } from '../../contract/source-shapes.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { COMPILED_INDEXES, type CompiledIndex } from '../data/indexes/index.ts'
import type { CompiledType } from '../schema/compiled-types/compiled-type.ts'
import { titleProperty } from '../schema/compiled-types/title-property.ts'
import { compileSchema } from '../schema/json-schema/compile.ts'
import { statement } from '../storage/database/client.ts'
import { compiledCache } from './compiled-cache.ts'
import type { Scope } from './scope.ts'

type Row = {
  version: number
  revision: number
  timezone: string
  json_schema: unknown
  display: unknown
  sources: Source[]
  indexes: CompiledIndex[]
}

const GET_TYPE = statement(
  'get_type',
  `SELECT version, revision, timezone, json_schema, display, sources, ${COMPILED_INDEXES} AS indexes
   FROM plinth.record_type t WHERE base_id = $1 AND id = $2`,
)

/** Loads a compiled record type through the cache. Returns undefined when there is none. */
export async function findType(scope: Scope, baseId: string, id: string): Promise<CompiledType | undefined> {
  return TYPES.get(scope, `${baseId}/${id}`)
}

/** Loads a compiled record type from the database and replaces the cached one. */
export async function reloadType(
  scope: Scope,
  baseId: string,
  id: string,
): Promise<CompiledType | undefined> {
  return TYPES.reload(scope, `${baseId}/${id}`)
}

const TYPES = compiledCache<CompiledType>({
  max: 2000,
  maxChars: LIMITS.compiledSchemaChars,
  charsOf: ({ jsonSchema }) => JSON.stringify(jsonSchema).length,
  per: 'resource',
  from: ['record_type'],
  async load(scope, key, former) {
    const [baseId = '', id = ''] = key.split('/')
    const [row] = await scope.db.query<Row>(GET_TYPE, [baseId, id])
    if (!row) return undefined
    // Reuse the validator for an unchanged schema, so that an invalidation does not cost a compilation.
    const unchanged =
      former?.version === row.version && JSON.stringify(former.jsonSchema) === JSON.stringify(row.json_schema)
    return {
      baseId,
      id,
      version: row.version,
      revision: row.revision,
      timezone: row.timezone,
      jsonSchema: row.json_schema,
      title: titleProperty(row.json_schema, row.display),
      sources: row.sources,
      schema: unchanged ? former.schema : compileSchema(row.json_schema, '/json_schema'),
      indexes: row.indexes,
    }
  },
})
