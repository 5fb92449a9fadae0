import type { Column } from '../../../contract/record-columns.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { findType } from '../../core/load-type.ts'
import type { Scope } from '../../core/scope.ts'
import { type ChangeColumn, type ChangeCondition, PREVIOUS } from '../../data/filter/change-condition.ts'
import { namedFilter } from '../../data/filter/check-fields.ts'
import { compileFilter } from '../../data/filter/compile.ts'
import { underAllNames } from '../../data/filter/former-names.ts'
import { columnOperand, type FieldContext } from '../../data/filter/operand.ts'
import { type BoundStatement, Parameters } from '../../data/filter/parameters.ts'
import { operandsOver } from '../../data/filter/record-operands.ts'
import { searchOver } from '../../data/filter/search-condition.ts'
import { shaped } from '../../storage/database/client.ts'
import { recordsWithPrevious } from './point-in-time-statements.ts'

type Entry = { readonly seq: number; readonly recordType: string }
/** A condition, with the log entries of records that may meet it. */
type Asked = { readonly condition: ChangeCondition; readonly entries: readonly Entry[] }

/**
 * The numbers of the log entries that meet each condition, in the order of the conditions. Entries of a type that is
 * gone, and those whose states are no longer retained, meet none.
 */
export async function entriesMeetingEach(
  scope: Scope,
  baseId: string,
  asked: readonly Asked[],
): Promise<ReadonlySet<number>[]> {
  const met = asked.map(() => new Set<number>())
  for (const [recordType, own] of byType(asked)) {
    const type = await findType(scope, baseId, recordType)
    if (!type) continue
    for (let from = 0; from < own.length; from += LIMITS.matchedConditions) {
      if (turnIsOver()) await nextTurn()
      const some = own.slice(from, from + LIMITS.matchedConditions)
      const seqs = [...new Set(some.flatMap((each) => [...each.seqs]))]
      const { text, values } = matchingChanges(
        some.map(({ condition }) => condition),
        { baseId, recordType, type, seqs },
      )
      const rows = await scope.db.query<{ seq: number; met: (boolean | null)[] }>(shaped(text), values)
      for (const row of rows)
        for (const [n, each] of some.entries())
          if (row.met[n] && each.seqs.has(row.seq)) met[each.place]?.add(row.seq)
    }
  }
  return met
}

/** The numbers of the log entries that meet a condition. */
export async function entriesMeeting(
  scope: Scope,
  baseId: string,
  condition: ChangeCondition,
  entries: readonly Entry[],
): Promise<ReadonlySet<number>> {
  const [met = new Set<number>()] = await entriesMeetingEach(scope, baseId, [{ condition, entries }])
  return met
}

type OfType = { readonly place: number; readonly condition: ChangeCondition; readonly seqs: Set<number> }

/** The conditions with the entries of each record type. */
function byType(asked: readonly Asked[]): ReadonlyMap<string, readonly OfType[]> {
  const types = new Map<string, OfType[]>()
  for (const [place, { condition, entries }] of asked.entries())
    for (const [recordType, own] of Map.groupBy(entries, (entry) => entry.recordType)) {
      const list = types.get(recordType) ?? []
      list.push({ place, condition, seqs: new Set(own.map(({ seq }) => seq)) })
      types.set(recordType, list)
    }
  return types
}

// The statement that finds the changes that meet conditions.

/**
 * Statement that finds which of the entries `seqs` are of the record type and meet one of the conditions: `met` says
 * for each condition, in their order, whether the entry meets it.
 */
function matchingChanges(
  conditions: readonly ChangeCondition[],
  {
    baseId,
    recordType,
    type,
    seqs,
  }: { baseId: string; recordType: string; type: FieldContext; seqs: readonly number[] },
): BoundStatement {
  const parameters = new Parameters()
  const operandOf = (column: ChangeColumn) =>
    column.startsWith(PREVIOUS)
      ? columnOperand(column.slice(PREVIOUS.length) as Column, type, 'p')
      : columnOperand(column as Column, type)
  // Declared indexes are of present records.
  const searched = { ...type, indexes: [] }
  const search = searchOver<ChangeColumn>(baseId, searched, parameters, () => {}, operandOf)
  const operands = operandsOver<ChangeColumn>(type, parameters, search, operandOf)
  const entries = recordsWithPrevious({ base: parameters.add(baseId), seqs: parameters.add(seqs) })
  // The fields were checked when the trigger was stored. A type that has changed since has null in their place.
  const compiled = conditions.map((condition) => {
    const named = namedFilter(underAllNames(condition, type.jsonSchema, true))
    return `(${compileFilter(named, operands)})`
  })
  const ofType = `r.record_type = ${parameters.add(recordType)}`
  return parameters.bind(
    `SELECT seq, met FROM (
       SELECT r.seq::float8 AS seq, ARRAY[${compiled.join(', ')}] AS met FROM ${entries} WHERE ${ofType}) m
     WHERE true = ANY (met) ORDER BY seq`,
  )
}
