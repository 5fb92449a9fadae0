/** Row policies of endpoints and toolsets: after a change of the type, they must still read what they read before. */
import { isDeepStrictEqual } from 'node:util'
import { DomainError } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { type FieldPath, fieldName, parseField } from '../../schema/compiled-types/field-path.ts'
import { currentPath } from '../../schema/json-schema/fields.ts'
import { statement } from '../../storage/database/client.ts'
import { type MigrationStep, pathAfter } from './migration.ts'

const FILTERS = statement(
  'filters_of_type',
  `SELECT kind, id, t ->> 'filter' AS filter, t ->> 'write_filter' AS write_filter
   FROM (SELECT 'endpoint' AS kind, id, tools FROM plinth.endpoint WHERE base_id = $1
         UNION ALL SELECT 'toolset', id, tools FROM plinth.toolset WHERE base_id = $1) c, json_array_elements(tools) t
   WHERE t ->> 'record_type' = $2 AND coalesce(t ->> 'filter', t ->> 'write_filter') IS NOT NULL ORDER BY kind, id`,
)
type Found = { kind: 'endpoint' | 'toolset'; id: string; filter: string | null; write_filter: string | null }

/**
 * Without its property, a condition such as `is_null` would let all records pass. What is written in the same transaction may say
 * what it likes.
 * @throws CONFLICT
 */
export async function checkFiltersFollow(
  { db, access }: WriteScope,
  { baseId, id: type }: { baseId: string; id: string },
  { before, next, steps }: { before: unknown; next: unknown; steps: readonly MigrationStep[] },
  isWritten: (kind: Found['kind'], id: string) => boolean,
): Promise<void> {
  for (const { kind, id, ...filters } of await db.query<Found>(FILTERS, [baseId, type])) {
    if (isWritten(kind, id)) continue
    for (const filter of Object.values(filters))
      for (const { path, beside, condition } of conditionsOf(JSON.parse(filter ?? 'null'))) {
        const to = pathAfter(currentPath(before, path), steps)
        const isSame = (other: unknown) =>
          isObject(other) && isDeepStrictEqual({ ...other, field: '' }, { ...condition, field: '' })
        const isKept = (other: object) => to && isDeepStrictEqual(currentPath(next, pathOf(other)), to)
        if (beside.some((other) => isSame(other) && isKept(other as object))) continue
        const user = access.allows('read', baseId, '*') ? `${kind} "${id}"` : 'an endpoint'
        throw leftBehind(user, fieldName(path), to && fieldName(to))
      }
  }
}

type Conditions = { condition: object; path: FieldPath; beside: readonly unknown[] }[]

/** The conditions of a filter on properties, each with those that must hold too where it decides: itself, and others of its "and". */
function conditionsOf(filter: unknown, isNegated = false, beside: readonly unknown[] = [filter]): Conditions {
  if (!isObject(filter)) return []
  if (typeof filter['field'] === 'string') {
    const path = pathOf(filter)
    return path.length > 0 ? [{ condition: filter, path, beside }] : []
  }
  return Object.entries(filter).flatMap(([group, of]) => {
    const each: readonly unknown[] = Array.isArray(of) ? of : [of]
    const isAnd = group === (isNegated ? 'or' : 'and')
    return each.flatMap((one) => conditionsOf(one, isNegated !== (group === 'not'), isAnd ? each : [one]))
  })
}

/** The property that a condition reads; none if it reads a column. */
function pathOf(condition: { readonly field?: unknown }): FieldPath {
  const field = parseField(condition.field, '')
  return field.kind === 'data' ? field.path : []
}

function leftBehind(what: string, field: string, to: string | null): DomainError {
  const advice =
    to === null
      ? 'which this change drops. Change the filter first.'
      : to === field
        ? 'which would have another name, while records keep it there. Rename it with a "migration".'
        : `and records would have that in "${to}". First let the filter require the same of "${to}", with "and".`
  const message = `A filter of ${what} reads "${field}", ${advice}`
  return new DomainError('CONFLICT', message, {
    details: [{ path: '/json_schema', code: 'in_use', message, received: field }],
  })
}
