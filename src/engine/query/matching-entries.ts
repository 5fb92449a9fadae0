import { findType } from '../core/load-type.ts'
import type { Scope } from '../core/scope.ts'
import { shaped } from '../database/client.ts'
import { type ChangeCondition, matchingChanges } from './change-condition.ts'

type Entry = { readonly seq: number; readonly recordType: string }

/**
 * The numbers of the log entries of records that meet a condition. Entries of a type that is gone, and those whose
 * states are no longer retained, meet none.
 */
export async function entriesMeeting(
  scope: Scope,
  baseId: string,
  condition: ChangeCondition,
  entries: readonly Entry[],
): Promise<ReadonlySet<number>> {
  const met = new Set<number>()
  for (const [recordType, own] of Map.groupBy(entries, (entry) => entry.recordType)) {
    const type = await findType(scope, baseId, recordType)
    if (!type) continue
    const { text, values } = matchingChanges(condition, {
      ...{ baseId, recordType, type },
      seqs: own.map(({ seq }) => seq),
    })
    for (const { seq } of await scope.db.query<{ seq: number }>(shaped(text), values)) met.add(seq)
  }
  return met
}
