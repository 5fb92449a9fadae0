/** The triggers of a base that follow its changes. */
import { mapInTurns } from '../../../foundation/event-loop-turns.ts'
import { type ChangeCondition, parseChangeCondition } from '../../data/filter/change-condition.ts'
import { type Db, statement } from '../../storage/database/client.ts'

/** A trigger in the form for matching. */
export type Follower = {
  readonly id: string
  readonly afterSeq: number
  /** Null for all record types. */
  readonly recordTypes: ReadonlySet<string> | null
  readonly events: ReadonlySet<string>
  readonly skipsInbound: boolean
  readonly runsAction: boolean
  readonly condition: ChangeCondition | null
}

type Row = {
  id: string
  after_seq: number
  record_types: string[]
  events: string[]
  skip_inbound_writes: boolean
  runs_action: boolean
  condition: unknown
}

const ENABLED = statement(
  'enabled_triggers',
  `SELECT id, after_seq::float8 AS after_seq, record_types, events, skip_inbound_writes, condition, action IS NOT NULL AS runs_action
   FROM plinth.trigger WHERE base_id = $1 AND enabled AND disabled_reason IS NULL AND NOT calls_production ORDER BY id`,
)

export async function enabledTriggers(db: Db, baseId: string): Promise<Follower[]> {
  return mapInTurns(await db.query<Row>(ENABLED, [baseId]), (row) => ({
    id: row.id,
    afterSeq: row.after_seq,
    recordTypes: row.record_types.includes('*') ? null : new Set(row.record_types),
    events: new Set(row.events),
    skipsInbound: row.skip_inbound_writes,
    runsAction: row.runs_action,
    condition: row.condition === null ? null : parseChangeCondition(row.condition, '/condition'),
  }))
}

const BASES = statement(
  'bases_with_triggers',
  'SELECT DISTINCT base_id AS base FROM plinth.trigger WHERE ($1::text IS NULL OR base_id = $1)',
)

/** The bases that have triggers: all, or the given one if it has some. */
export async function basesWithTriggers(db: Db, baseId: string | null): Promise<string[]> {
  return (await db.query<{ base: string }>(BASES, [baseId])).map(({ base }) => base)
}
