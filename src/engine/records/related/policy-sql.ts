import { findType } from '../../core/load-type.ts'
import type { TypePolicy } from '../../core/policy.ts'
import { rightsOf } from '../../core/row-policy/apply.ts'
import { visibleDataSql } from '../../core/row-policy/project-data.ts'
import type { Scope } from '../../core/scope.ts'
import { compileFilter } from '../../data/filter/compile.ts'
import type { Parameters } from '../../data/filter/parameters.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { compileFor } from '../query/compile-query.ts'
import { UNSORTED } from '../query/sort.ts'

/** Row and field policy as SQL over `plinth.record AS r`, for records of any type. */
export type PolicySql = (parameters: Parameters) => {
  /** Condition: the record matches the row policy of its type. */
  within: string
  /** Expression: the visible part of its data. */
  data: string
}

/** Builds the policy as SQL; null if the scope has none and the grants suffice. */
export async function policySqlOf(scope: Scope, baseId: string): Promise<PolicySql | null> {
  const { policy } = scope
  if (!policy) return null
  const readable = rightsOf(scope).types('read', baseId)
  const bounded: { type: CompiledType; policy: TypePolicy }[] = []
  for (const [id, typePolicy] of policy.types) {
    const type = await findType(scope, baseId, id)
    if (type) bounded.push({ type, policy: typePolicy })
  }
  const whole = [...readable].filter((id) => !policy.types.has(id))
  return (parameters) => ({
    within: `(${[
      `r.record_type = ANY (${parameters.add(whole)}::text[])`,
      ...bounded.map((each) => withinType(each.type, each.policy, baseId, parameters)),
    ].join(' OR ')})`,
    data: dataOf(bounded, parameters),
  })
}

/** Condition: the record with the row number matches the policy. */
export const withinPolicy = (row: string, within: string | null): string =>
  within === null ? '' : ` AND EXISTS (SELECT FROM plinth.record r WHERE r.row_no = ${row} AND ${within})`

function withinType(
  type: CompiledType,
  { filter }: TypePolicy,
  baseId: string,
  parameters: Parameters,
): string {
  const { operands } = compileFor({ baseId, type, sort: UNSORTED }, parameters)
  const ofType = `r.record_type = ${parameters.add(type.id)}`
  return filter ? `(${ofType} AND ${compileFilter(filter, operands)})` : ofType
}

function dataOf(
  bounded: readonly { type: CompiledType; policy: TypePolicy }[],
  parameters: Parameters,
): string {
  const cases = bounded.flatMap(({ type, policy }) =>
    policy.visible
      ? [`WHEN r.record_type = ${parameters.add(type.id)} THEN ${visibleDataSql(policy.visible, parameters)}`]
      : [],
  )
  return cases.length > 0 ? `CASE ${cases.join(' ')} ELSE r.data END` : 'r.data'
}

/** Properties visible in all types, so that requests on records of any type may name them. */
export function visibleOfAll({ policy }: Scope): readonly string[] | null {
  const lists = [...(policy?.types.values() ?? [])].flatMap(({ visible }) => (visible ? [visible] : []))
  const [first, ...others] = lists
  return first ? first.filter((name) => others.every((list) => list.includes(name))) : null
}
