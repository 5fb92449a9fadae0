import { invalid } from '../../../foundation/errors.ts'
import type { Scope } from '../../core/scope.ts'
import { checkField, type FieldContext } from '../../data/filter/operand.ts'
import { type BoundStatement, Parameters } from '../../data/filter/parameters.ts'
import type { Condition, Filter } from '../../data/filter/syntax-tree.ts'
import type { FieldPath } from '../../schema/compiled-types/field-path.ts'
import { fieldExists } from '../../schema/json-schema/fields.ts'
import { statement } from '../../storage/database/client.ts'

/** A record type definition that some of the bases share. */
export type SharedType = FieldContext & { bases: readonly string[]; indexes: readonly [] }

/** A non-empty list of shared types. */
export type SharedTypes = readonly [SharedType, ...SharedType[]]

type Row = { timezone: string; json_schema: string; bases: string[] }

// Deduplicates schemas: preview and copied bases have the same one, which is sent once.
const TYPES = statement(
  'cross_base_types',
  `SELECT timezone, json_schema::text AS json_schema, array_agg(base_id::text ORDER BY base_id) AS bases
   FROM plinth.record_type WHERE id = $1 AND base_id = ANY ($2) GROUP BY timezone, json_schema::text
   ORDER BY min(base_id)`,
)

/** Placeholder when no base has the type: it matches nothing and accepts every field. */
const NOWHERE: SharedType = { bases: [], timezone: 'UTC', jsonSchema: {}, indexes: [] }

/** Loads the type of each base and groups identical definitions; at least one, which may have no base. */
export async function sharedTypes(
  scope: Scope,
  bases: readonly string[],
  recordType: string,
): Promise<SharedTypes> {
  const rows = await scope.db.query<Row>(TYPES, [recordType, bases])
  const [first = NOWHERE, ...rest] = rows.map(
    ({ timezone, json_schema, bases: having }): SharedType => ({
      bases: having,
      timezone,
      jsonSchema: JSON.parse(json_schema),
      indexes: [],
    }),
  )
  return [first, ...rest]
}

/** A path in `data` that a query names, with its JSON Pointer. */
export type NamedPath = { path: FieldPath; at: string }

/** The `data` paths of a filter. */
export function pathsOf(filter: Filter | null): NamedPath[] {
  if (filter === null || filter.kind === 'linked') return []
  if (filter.kind === 'not') return pathsOf(filter.of)
  if (filter.kind !== 'condition') return filter.of.flatMap(pathsOf)
  return pathOf(filter)
}

const pathOf = ({ field, at }: Condition): NamedPath[] =>
  field.kind === 'data' ? [{ path: field.path, at: `${at}/field` }] : []

/**
 * Opens closed schemas to the paths: a field that a base does not have is missing there.
 * @throws VALIDATION_ERROR for a field that no base has
 */
export function openTypes(types: SharedTypes, paths: readonly NamedPath[]): SharedTypes {
  const has = ({ jsonSchema }: SharedType, { path }: NamedPath) => fieldExists(jsonSchema, path).exists
  const [first, ...rest] = types
  for (const named of paths)
    if (!types.some((type) => has(type, named)))
      checkField({ kind: 'data', path: named.path }, first, named.at)
  const open = (type: SharedType) => (paths.every((named) => has(type, named)) ? type : opened(type))
  return [open(first), ...rest.map(open)]
}

function opened(type: SharedType): SharedType {
  const open = (key: string, value: unknown) =>
    key === 'additionalProperties' && value === false ? undefined : value
  return { ...type, jsonSchema: JSON.parse(JSON.stringify(type.jsonSchema), open) }
}

/**
 * Merges types whose compiled query, bind values included, is the same. `ask` compiles it into the
 * parameters.
 */
export function mergeAlike(
  types: SharedTypes,
  ask: (type: SharedType, parameters: Parameters) => string,
): SharedTypes {
  const alike = new Map<string, SharedType>()
  for (const type of types) {
    const parameters = new Parameters()
    const key = JSON.stringify(parameters.bind(ask({ ...type, bases: [] }, parameters)))
    const known = alike.get(key)
    alike.set(key, known ? { ...known, bases: [...known.bases, ...type.bases] } : type)
  }
  const [first = types[0], ...rest] = alike.values()
  return [first, ...rest]
}

/** The maximum of the PostgreSQL wire protocol. */
const MAX_PARAMETERS = 65_535

/**
 * Binds the parameters.
 * @throws VALIDATION_ERROR when differing types need too many of them
 */
export function bindWithin(parameters: Parameters, text: string): BoundStatement {
  const bound = parameters.bind(text)
  if (bound.values.length <= MAX_PARAMETERS) return bound
  throw invalid({
    path: '/bases',
    code: 'too_many',
    message:
      'The bases have too many different schemas and timezones for one query. Send fewer bases or fewer conditions.',
  })
}
