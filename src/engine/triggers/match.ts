/** Which triggers an entry of the log is for. */
import { nextTurn, turnIsOver } from '../../foundation/turns.ts'
import { findType } from '../core/load-type.ts'
import type { Scope } from '../core/scope.ts'
import { shaped } from '../database/client.ts'
import { type ChangeCondition, matchingChanges } from '../query/change-condition.ts'
import type { Follower } from './enabled-triggers.ts'

/** An entry of a record. */
export type Entry = {
  readonly seq: number
  readonly record_type: string
  readonly id: string
  readonly operation: string
  readonly via: string
  readonly cause: string | null
}

export type Match = { readonly trigger: string; readonly runsAction: boolean; readonly entry: Entry }

/** Finds the deliveries that the entries make, in the order of the log. */
export async function matchEntries(
  scope: Scope,
  baseId: string,
  entries: readonly Entry[],
  followers: readonly Follower[],
): Promise<Match[]> {
  const matches: Match[] = []
  for (const follower of followers) {
    const candidates: Entry[] = []
    for (const entry of entries) {
      if (turnIsOver()) await nextTurn()
      if (mayFollow(follower, entry)) candidates.push(entry)
    }
    const { condition } = follower
    const met = condition && (await meeting(scope, baseId, condition, candidates))
    for (const entry of candidates)
      if (!met || met.has(entry.seq))
        matches.push({ trigger: follower.id, runsAction: follower.runsAction, entry })
  }
  return matches.sort((one, other) => one.entry.seq - other.entry.seq)
}

const mayFollow = (
  { afterSeq, recordTypes, events, skipsInbound }: Follower,
  { seq, record_type, operation, via }: Entry,
): boolean =>
  seq > afterSeq &&
  events.has(operation) &&
  (recordTypes === null || recordTypes.has(record_type)) &&
  !(skipsInbound && via === 'inbound')

/** The entries that meet a condition. The entries of a type that is gone meet none. */
async function meeting(
  scope: Scope,
  baseId: string,
  condition: ChangeCondition,
  entries: readonly Entry[],
): Promise<ReadonlySet<number>> {
  const met = new Set<number>()
  for (const [recordType, own] of Map.groupBy(entries, ({ record_type }) => record_type)) {
    const type = await findType(scope, baseId, recordType)
    if (!type) continue
    const { text, values } = matchingChanges(condition, { baseId, type, seqs: own.map(({ seq }) => seq) })
    for (const { seq } of await scope.db.query<{ seq: number }>(shaped(text), values)) met.add(seq)
  }
  return met
}
