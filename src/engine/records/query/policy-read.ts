import type { TypePolicy } from '../../core/policy.ts'
import { visibleDataSql } from '../../core/row-policy/project-data.ts'
import type { Scope } from '../../core/scope.ts'
import { compileFilter } from '../../data/filter/compile.ts'
import type { FieldContext } from '../../data/filter/operand.ts'
import type { BoundFilter } from '../../data/filter/syntax-tree.ts'
import type { CompiledIndex } from '../../data/indexes/index.ts'
import { RECORD_COLUMNS, type RecordRow } from '../../data/ledger/record.ts'
import { shaped } from '../../storage/database/client.ts'
import { compileFor } from './compile-query.ts'
import { UNSORTED } from './sort.ts'

/** A record type with the row policy that reads apply. */
export type BoundedType = FieldContext & {
  readonly baseId: string
  readonly id: string
  readonly indexes: readonly CompiledIndex[]
}

/**
 * Reads a record under the row policy, with its visible fields; undefined when it is absent or outside the
 * policy.
 */
export async function readBounded(
  scope: Scope,
  policy: TypePolicy,
  type: BoundedType,
  id: string,
): Promise<RecordRow | undefined> {
  const { parameters, operands } = compileFor({ baseId: type.baseId, type, sort: UNSORTED })
  const columns = RECORD_COLUMNS.split(', ').map((name) =>
    name === 'data' ? `${visibleDataSql(policy.visible, parameters)} AS data` : `r.${name}`,
  )
  const { text, values } = parameters.bind(
    `SELECT ${columns.join(', ')} FROM plinth.record r
     WHERE r.base_id = ${parameters.add(type.baseId)} AND r.record_type = ${parameters.add(type.id)} AND r.id = ${parameters.add(id)}
       AND ${policy.filter ? compileFilter(policy.filter, operands) : 'true'}`,
  )
  return (await scope.db.query<RecordRow>(shaped(text), values))[0]
}

/** Filters ids by the row policy. Row locks, if held, keep the result valid. */
export async function idsWithin(
  scope: Scope,
  filter: BoundFilter | null,
  type: BoundedType,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (filter === null) return ids
  const { parameters, operands } = compileFor({ baseId: type.baseId, type, sort: UNSORTED })
  const { text, values } = parameters.bind(
    `SELECT r.id FROM plinth.record r
     WHERE r.base_id = ${parameters.add(type.baseId)} AND r.record_type = ${parameters.add(type.id)}
       AND r.id = ANY (${parameters.add(ids)}::text[]) AND ${compileFilter(filter, operands)}`,
  )
  return (await scope.db.query<{ id: string }>(shaped(text), values)).map(({ id }) => id)
}

/** Whether all records match the filter. */
export async function areWithin(
  scope: Scope,
  filter: BoundFilter | null,
  type: BoundedType,
  ids: readonly string[],
): Promise<boolean> {
  return (await idsWithin(scope, filter, type, ids)).length === ids.length
}
