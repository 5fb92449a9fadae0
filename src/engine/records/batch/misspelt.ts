import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { policyOn } from '../../core/row-policy/apply.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { firstWarnings } from '../../schema/json-schema/schema-warnings.ts'
import { type DataOperation, isOfRecord } from './operation.ts'
import type { Types } from './prepare.ts'
import { rangesOf } from './repeated-faults.ts'

/** Operations of a batch that are looked at: the names of all others are mostly the same. */
const MOST_OPERATIONS = 200

/** Warnings about misspelt properties of the operations. The same warning is given once. */
export async function misspeltIn(
  scope: WriteScope,
  operations: readonly DataOperation[],
  types: Types,
): Promise<string[]> {
  const found = new Map<string, number[]>()
  for (const operation of operations.filter(isOfRecord).slice(0, MOST_OPERATIONS)) {
    const type = types.get(operation.recordType)
    if (!type?.schema.misspelt || policyOn(scope, type.baseId, type.id)) continue
    if (turnIsOver()) await nextTurn()
    const sent = 'write' in operation ? (operation.sent ?? operation.write).data : mergedBy(operation)
    for (const warning of type.schema.misspelt(sent)) {
      const indexes = found.get(warning) ?? []
      indexes.push(operation.index)
      found.set(warning, indexes)
    }
  }
  const lines = [...found].map(([warning, indexes]) =>
    indexes.length === 1
      ? `Operation ${indexes[0]}: ${warning}`
      : `Operations ${rangesOf(indexes)}: ${warning}`,
  )
  return firstWarnings(lines)
}

const mergedBy = (operation: DataOperation): unknown =>
  'merge' in operation ? operation.merge.data : undefined
