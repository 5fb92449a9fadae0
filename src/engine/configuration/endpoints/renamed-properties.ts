/** Bounds of endpoints follow the properties that are renamed after they were written. */
import type { Scope } from '../../core/scope.ts'
import type { Bounds } from '../../schema/compiled-types/compiled-endpoint.ts'
import { fieldName, parseField } from '../../schema/compiled-types/field-path.ts'
import { currentPath } from '../../schema/json-schema/fields.ts'
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

/** The bounds with the present names of the properties of their type; `filter` and `writeFilter` get them where they are parsed. */
export function withCurrentNames(bounds: Bounds, schema: unknown): Bounds {
  if (schema === undefined) return bounds
  const { fields, defaults } = bounds
  const current = (field: string): string => {
    const parsed = parseField(field, '')
    return parsed.kind === 'column' ? field : fieldName(currentPath(schema, parsed.path))
  }
  return {
    ...{ ...bounds, renamedIn: schema, fields: fields?.map(current) ?? null },
    defaults:
      defaults &&
      Object.fromEntries(
        Object.entries(defaults).map(([name, value]) => [currentPath(schema, [name])[0], value]),
      ),
  }
}
