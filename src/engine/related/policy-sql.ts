import type { CompiledType } from '../compiled-types/compiled-type.ts'
import { findType } from '../core/load-type.ts'
import type { TypeLens } from '../core/policy.ts'
import type { Scope } from '../core/scope.ts'
import { compileFilter } from '../filter/compile.ts'
import type { Parameters } from '../filter/parameters.ts'
import { compileFor } from '../query/compile-query.ts'
import { UNSORTED } from '../query/sort.ts'
import { rightsOf } from '../row-policy/apply.ts'
import { shownData } from '../row-policy/project-data.ts'

/** Row and field policy as SQL over `plinth.record AS r`, for records of any type. */
export type Reach = (parameters: Parameters) => {
  /** Condition: the record matches the row policy of its type. */
  within: string
  /** Expression: the visible part of its data. */
  data: string
}

/** Builds the policy as SQL; null if the scope has none and the grants suffice. */
export async function reachOf(scope: Scope, baseId: string): Promise<Reach | null> {
  const { lens } = scope
  if (!lens) return null
  const readable = rightsOf(scope).types('read', baseId)
  const bounded: { type: CompiledType; lens: TypeLens }[] = []
  for (const [id, typeLens] of lens.types) {
    const type = await findType(scope, baseId, id)
    if (type) bounded.push({ type, lens: typeLens })
  }
  const whole = [...readable].filter((id) => !lens.types.has(id))
  return (parameters) => ({
    within: `(${[
      `r.record_type = ANY (${parameters.add(whole)}::text[])`,
      ...bounded.map((each) => withinType(each.type, each.lens, baseId, parameters)),
    ].join(' OR ')})`,
    data: dataOf(bounded, parameters),
  })
}

/** Condition: the record with the row number matches the policy. */
export const reached = (row: string, within: string | null): string =>
  within === null ? '' : ` AND EXISTS (SELECT FROM plinth.record r WHERE r.row_no = ${row} AND ${within})`

function withinType(
  type: CompiledType,
  { filter }: TypeLens,
  baseId: string,
  parameters: Parameters,
): string {
  const { target } = compileFor({ baseId, type, sort: UNSORTED }, parameters)
  const ofType = `r.record_type = ${parameters.add(type.id)}`
  return filter ? `(${ofType} AND ${compileFilter(filter, target)})` : ofType
}

function dataOf(bounded: readonly { type: CompiledType; lens: TypeLens }[], parameters: Parameters): string {
  const cases = bounded.flatMap(({ type, lens }) =>
    lens.shown
      ? [`WHEN r.record_type = ${parameters.add(type.id)} THEN ${shownData(lens.shown, parameters)}`]
      : [],
  )
  return cases.length > 0 ? `CASE ${cases.join(' ')} ELSE r.data END` : 'r.data'
}

/** Properties visible in all types, so that requests on records of any type may name them. */
export function shownOfAll({ lens }: Scope): readonly string[] | null {
  const lists = [...(lens?.types.values() ?? [])].flatMap(({ shown }) => (shown ? [shown] : []))
  const [first, ...others] = lists
  return first ? first.filter((name) => others.every((list) => list.includes(name))) : null
}
