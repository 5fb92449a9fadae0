/**
 * First attempts of one trigger for one record are made one after the other: while one is to be made, those of later
 * changes are held, and are not due. So a record with many changes is no obstacle for others.
 */
import { type Db, statement } from '../../storage/database/client.ts'
import type { Due } from './due-deliveries.ts'

type OfRecord = Pick<Due, 'base_id' | 'trigger_id' | 'record_type' | 'record_id'>

/** Names the trigger and record that a first attempt is for; undefined for a retry, a replay, and what is of no record. */
const turnOf = ({ attempts, is_forced, ...of }: Due): string | undefined =>
  attempts > 0 || is_forced || of.record_type === null
    ? undefined
    : `${of.base_id}/${of.trigger_id}/${of.record_type}/${of.record_id}`

/** Divides what is due, in its order: what may be sent now, and one of each record whose other first attempts may not. */
export function inTurn(found: readonly Due[]): { ready: readonly Due[]; early: readonly Due[] } {
  const taken = new Set<string>()
  const early = new Map<string, Due>()
  const ready = found.filter((delivery) => {
    const turn = turnOf(delivery)
    if (turn === undefined) return true
    if (taken.has(turn)) early.set(turn, delivery)
    return !early.has(turn) && taken.add(turn)
  })
  return { ready, early: [...early.values()] }
}

const AT =
  'd.base_id = k.base_id AND d.trigger_id = k.trigger_id AND d.record_type = k.record_type AND d.record_id = k.record_id'
const TO_MAKE = 'd.attempts = 0 AND d.next_attempt_at IS NOT NULL AND NOT d.is_forced'
const RECORDS =
  'unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS k (base_id, trigger_id, record_type, record_id)'

// The lock makes this wait for an outcome that is being stored: what it lets go next is not held again.
const HOLD = statement(
  'hold_deliveries',
  `UPDATE plinth.trigger_delivery d SET is_held = true WHERE ${TO_MAKE} AND ctid = ANY (ARRAY(
     SELECT later.ctid FROM ${RECORDS}
     CROSS JOIN LATERAL (
       SELECT d.change_seq FROM plinth.trigger_delivery d WHERE ${AT} AND ${TO_MAKE} ORDER BY d.change_seq LIMIT 1 FOR SHARE) h
     CROSS JOIN LATERAL (
       SELECT d.ctid FROM plinth.trigger_delivery d WHERE ${AT} AND ${TO_MAKE} AND d.change_seq > h.change_seq AND NOT d.is_held
       ORDER BY d.change_seq LIMIT 1000) later))`,
)
const RELEASE = statement(
  'release_deliveries',
  `UPDATE plinth.trigger_delivery SET is_held = false WHERE is_held AND ctid = ANY (ARRAY(
     SELECT next.ctid FROM ${RECORDS}
     CROSS JOIN LATERAL (
       SELECT d.ctid, d.is_held FROM plinth.trigger_delivery d WHERE ${AT} AND ${TO_MAKE} ORDER BY d.change_seq LIMIT 1) next
     WHERE next.is_held))`,
)
const RELEASE_LEFT = statement(
  'release_left_deliveries',
  `UPDATE plinth.trigger_delivery k SET is_held = false WHERE k.is_held AND k.next_attempt_at IS NOT NULL AND NOT EXISTS (
     SELECT FROM plinth.trigger_delivery d WHERE ${AT} AND ${TO_MAKE} AND d.change_seq < k.change_seq)`,
)

const columnsOf = (records: readonly OfRecord[]) => [
  records.map(({ base_id }) => base_id),
  records.map(({ trigger_id }) => trigger_id),
  records.map(({ record_type }) => record_type),
  records.map(({ record_id }) => record_id),
]

/** Holds the first attempts for the records, but the earliest of each. */
export const hold = (db: Db, early: readonly OfRecord[]) => db.query(HOLD, columnsOf(early))

/** Lets go the next first attempts for the records of deliveries that have ended. */
export const release = (db: Db, ended: readonly OfRecord[]) => db.query(RELEASE, columnsOf(ended))

/** Lets go what a process held that ended before it could let go. */
export const releaseLeft = (db: Db) => db.query(RELEASE_LEFT, [])
