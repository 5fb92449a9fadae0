/** Which triggers an entry of the log is for. */
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import type { Scope } from '../../core/scope.ts'
import { entriesMeetingEach } from '../../records/query/matching-entries.ts'
import type { Follower } from './enabled-triggers.ts'

/** An entry of a record, or of a step of a change-set, which has no record type. */
export type Entry = {
  readonly seq: number
  readonly record_type: string | null
  readonly id: string
  /** As triggers name it. */
  readonly event: string
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
  const following: { follower: Follower; candidates: Entry[] }[] = []
  for (const follower of followers) {
    const candidates: Entry[] = []
    for (const entry of entries) {
      if (turnIsOver()) await nextTurn()
      if (mayFollow(follower, entry)) candidates.push(entry)
    }
    if (candidates.length > 0) following.push({ follower, candidates })
  }
  const conditional = following.flatMap(({ follower: { id, condition }, candidates }) =>
    condition ? [{ id, condition, entries: candidates.flatMap(toAsked) }] : [],
  )
  const answers = await entriesMeetingEach(scope, baseId, conditional)
  const met = new Map(conditional.map(({ id }, n) => [id, answers[n]]))
  const matches = following.flatMap(({ follower: { id, runsAction, condition }, candidates }) =>
    candidates
      .filter(({ seq }) => !condition || met.get(id)?.has(seq))
      .map((entry): Match => ({ trigger: id, runsAction, entry })),
  )
  return matches.sort((one, other) => one.entry.seq - other.entry.seq)
}

const toAsked = ({ seq, record_type }: Entry) =>
  record_type === null ? [] : [{ seq, recordType: record_type }]

const mayFollow = (
  { afterSeq, recordTypes, events, skipsInbound }: Follower,
  { seq, record_type, event, via }: Entry,
): boolean =>
  seq > afterSeq &&
  events.has(event) &&
  (recordTypes === null || (record_type !== null && recordTypes.has(record_type))) &&
  !(skipsInbound && via === 'inbound')
