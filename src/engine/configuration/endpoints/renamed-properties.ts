/**
 * Bounds of endpoints follow the properties that are renamed after they were written. Under its old name a property is missing from all
 * records, which a condition such as `is_null` would let pass.
 */
import { isObject } from '../../../foundation/is-object.ts'
import type { Scope } from '../../core/scope.ts'
import type { Bounds } from '../../schema/compiled-types/compiled-endpoint.ts'
import { fieldName, parseField } from '../../schema/compiled-types/field-path.ts'
import { currentPath, formerPaths } from '../../schema/json-schema/fields.ts'
import { FORMER_NAMES } from '../../schema/json-schema/property-names.ts'
import { statement } from '../../storage/database/client.ts'

/** The schemas of those types that have renamed properties, by the id of the type. */
export type RenamedIn = ReadonlyMap<string, unknown>

const WITH_RENAMED = statement(
  'types_with_renamed_properties',
  `SELECT id, json_schema AS schema FROM plinth.record_type
   WHERE base_id = $1 AND id = ANY ($2::text[]) AND position('"${FORMER_NAMES}"' IN json_schema::text) > 0`,
)

export async function renamedIn({ db }: Scope, baseId: string, types: readonly string[]): Promise<RenamedIn> {
  const rows = await db.query<{ id: string; schema: unknown }>(WITH_RENAMED, [baseId, types])
  return new Map(rows.map(({ id, schema }) => [id, schema]))
}

/**
 * The bounds with the present names of the properties of their type. What a record has under a former name, as those that come from
 * before the rename, must pass the filter under that name too.
 */
export function withCurrentNames(bounds: Bounds, schema: unknown): Bounds {
  if (schema === undefined) return bounds
  const current = (field: string): string => {
    const parsed = parseField(field, '')
    return parsed.kind === 'column' ? field : fieldName(currentPath(schema, parsed.path))
  }
  const inFilter = (filter: unknown, isNegated: boolean): unknown => {
    if (Array.isArray(filter)) return filter.map((each) => inFilter(each, isNegated))
    if (!isObject(filter)) return filter
    const { field } = filter
    if (typeof field !== 'string')
      return Object.fromEntries(
        Object.entries(filter).map(([group, of]) => [group, inFilter(of, isNegated !== (group === 'not'))]),
      )
    const parsed = parseField(field, '')
    const former = parsed.kind === 'column' ? [] : formerPaths(schema, parsed.path).map(fieldName)
    const now = { ...filter, field: current(field) }
    if (former.length === 0) return now
    const [all, any, without] = isNegated ? ['or', 'and', 'is_not_null'] : ['and', 'or', 'is_null']
    const under = former.map((name) => ({
      [any]: [
        { field: name, op: without },
        { ...filter, field: name },
      ],
    }))
    return { [all]: [now, ...under] }
  }
  const { defaults } = bounds
  return {
    ...bounds,
    filter: inFilter(bounds.filter, false) as Bounds['filter'],
    writeFilter: inFilter(bounds.writeFilter, false) as Bounds['writeFilter'],
    fields: bounds.fields?.map(current) ?? null,
    defaults:
      defaults &&
      Object.fromEntries(
        Object.entries(defaults).map(([name, value]) => [currentPath(schema, [name])[0], value]),
      ),
  }
}
