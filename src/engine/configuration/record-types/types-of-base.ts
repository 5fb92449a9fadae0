import { LIMITS } from '../../../foundation/limits.ts'
import { compiledCache } from '../../core/compiled-cache.ts'
import type { Scope } from '../../core/scope.ts'
import { statement } from '../../storage/database/client.ts'

/** A record type as the GraphQL schema of its base shows it. */
export type NamedType = {
  readonly id: string
  readonly graphqlName: string
  readonly description: string | null
  /** The schema as JSON text: of a large base, few types are read. */
  readonly schemaText: string
  /** Names of its external sources. */
  readonly sources: readonly string[]
}
/** All record types of a base by id; null if they are too many, or too large together. */
export type TypesOfBase = { readonly types: ReadonlyMap<string, NamedType> | null }

type Row = {
  id: string
  graphql_name: string
  description: string | null
  schema: string | null
  sources: string[]
}

const SOURCES = `ARRAY(SELECT s->>'name' FROM json_array_elements(sources) s) AS sources`

const GET_TYPES = statement(
  'types_of_base',
  `SELECT id, graphql_name, description, ${SOURCES},
     CASE WHEN sum(octet_length(json_schema::text)) OVER () <= ${LIMITS.typedSchemaChars} THEN json_schema::text END AS schema
   FROM plinth.record_type WHERE base_id = $1 ORDER BY id LIMIT ${LIMITS.typedSchemaTypes + 1}`,
)

type Part = { readonly ids: readonly string[] | null; readonly withSchema: boolean; readonly limit: number }

const GET_SOME = statement(
  'some_types_of_base',
  `SELECT id, graphql_name, description, ${SOURCES}, CASE WHEN $3 THEN json_schema::text END AS schema
   FROM plinth.record_type WHERE base_id = $1 AND ($2::text[] IS NULL OR id = ANY($2)) ORDER BY id LIMIT $4`,
)

/** Some record types of a base, or the first ones, in the order of their ids. */
export async function someTypesOfBase(
  { db }: Scope,
  baseId: string,
  { ids, withSchema, limit }: Part,
): Promise<NamedType[]> {
  if (ids?.length === 0) return []
  return (await db.query<Row>(GET_SOME, [baseId, ids, withSchema, limit])).map(named)
}

/** Loads all record types of a base in one statement, through the cache. */
export async function typesOfBase(scope: Scope, baseId: string): Promise<TypesOfBase> {
  return (await TYPES.get(scope, baseId)) ?? { types: null }
}

const TYPES = compiledCache<TypesOfBase>({
  max: 1000,
  maxChars: LIMITS.typedSchemaChars,
  charsOf: ({ types }) => {
    let chars = 1
    for (const { schemaText, description } of types?.values() ?? [])
      chars += schemaText.length + (description?.length ?? 0) + 200
    return Math.min(chars, LIMITS.typedSchemaChars)
  },
  per: 'base',
  from: ['record_type'],
  async load(scope, baseId) {
    const rows = await scope.db.query<Row>(GET_TYPES, [baseId])
    const isTooLarge = rows.length > LIMITS.typedSchemaTypes || rows.some(({ schema }) => schema === null)
    if (isTooLarge) return { types: null }
    return {
      types: new Map(rows.map((row) => [row.id, named(row)])),
    }
  },
})

const named = ({ id, graphql_name, description, schema, sources }: Row): NamedType => ({
  id,
  graphqlName: graphql_name,
  description,
  schemaText: schema ?? '{}',
  sources,
})
