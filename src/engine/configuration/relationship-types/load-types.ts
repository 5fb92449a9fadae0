import { compiledCache } from '../../core/compiled-cache.ts'
import { rightsOf } from '../../core/row-policy/apply.ts'
import type { Scope } from '../../core/scope.ts'
import {
  type Cardinality,
  type CompiledRelationshipType,
  type OnDelete,
  STAMP,
} from '../../schema/compiled-types/compiled-relationship-type.ts'
import { type CompiledSchema, compileSchema } from '../../schema/json-schema/compile.ts'
import type { Access } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'

type Row = {
  id: string
  version: number
  stamp: string
  name: string
  data_schema: unknown
  source_record_types: string[]
  target_record_types: string[]
  cardinality: Cardinality
  on_delete: OnDelete
}
type Types = ReadonlyMap<string, CompiledRelationshipType>

const GET_TYPES = statement(
  'get_relationship_types',
  `SELECT id, version, ${STAMP} AS stamp, name, data_schema, source_record_types, target_record_types, cardinality, on_delete
   FROM plinth.relationship_type WHERE base_id = $1 ORDER BY id`,
)

/** Loads all relationship types of a base by id, through the cache. Empty when the base is absent. */
export async function relationshipTypesOf(scope: Scope, baseId: string): Promise<Types> {
  return (await TYPES.get(scope, baseId)) ?? new Map()
}

/** Loads the relationship types from the database and replaces the cached ones. */
export async function reloadRelationshipTypes(scope: Scope, baseId: string): Promise<Types> {
  return (await TYPES.reload(scope, baseId)) ?? new Map()
}

const TYPES = compiledCache<Types>({
  max: 1000,
  per: 'base',
  from: ['relationship_type'],
  async load(scope, baseId) {
    const rows = await scope.db.query<Row>(GET_TYPES, [baseId])
    return new Map(rows.map((row) => [row.id, compiled(baseId, row)]))
  },
})

function compiled(baseId: string, row: Row): CompiledRelationshipType {
  let schema: CompiledSchema | undefined
  return {
    baseId,
    id: row.id,
    version: row.version,
    stamp: row.stamp,
    name: row.name,
    sourceRecordTypes: row.source_record_types,
    targetRecordTypes: row.target_record_types,
    cardinality: row.cardinality,
    onDelete: row.on_delete,
    dataSchema: row.data_schema,
    validate(data, at, allowance) {
      schema ??= compileSchema(row.data_schema, '/data_schema')
      return schema.validate(data, at, allowance)
    },
  }
}

/** Whether the token may read links of the type: it may read some record type of each end. */
export function mayReadRelationships(
  access: Access,
  type: Pick<CompiledRelationshipType, 'baseId' | 'sourceRecordTypes' | 'targetRecordTypes'>,
): boolean {
  const readable = access.types('read', type.baseId)
  if (readable === '*') return true
  const could = (named: readonly string[]) =>
    named.includes('*') ? readable.size > 0 : named.some((id) => readable.has(id))
  return could(type.sourceRecordTypes) && could(type.targetRecordTypes)
}

/** The relationship types of a base that the token may read, by id. */
export async function readableRelationshipTypes(scope: Scope, baseId: string): Promise<Types> {
  return readable(scope, baseId, await relationshipTypesOf(scope, baseId))
}

function readable(scope: Scope, baseId: string, types: Types): Types {
  const access = rightsOf(scope)
  if (access.types('read', baseId) === '*') return types
  return new Map([...types].filter(([, type]) => mayReadRelationships(access, type)))
}

/** Compiled once for a check of many links. */
const compiledSchema = new WeakMap<object, CompiledSchema>()

/** Compiles the schema of the data of relationships. */
export function linkSchemaOf(type: { readonly dataSchema: unknown }): CompiledSchema {
  const schema = compiledSchema.get(type) ?? compileSchema(type.dataSchema, '/data_schema')
  compiledSchema.set(type, schema)
  return schema
}
