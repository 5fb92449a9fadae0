/** Finds what followed from changes inside the base: what triggers and actions did because of them, by `cause`. */
import { nextTurn } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Reader } from '../../log/read.ts'
import { visibleTo } from '../../log/visibility.ts'
import { type Db, type Statement, shaped, statement } from '../../storage/database/client.ts'
import { AT_ONCE, FOUND, type FoundChange, type FoundRow, toFound, tooMany } from './find-changes.ts'

/** A delivery that was sent or is due, or a run of an action. */
export type Effect = { id: string; of: string; status: string }
/** What followed from the changes to undo. `changes` are undone too; what deliveries and runs sent out is not. */
export type Effects = { changes: number; deliveries: Effect[]; runs: Effect[] }

const DELIVERIES = statement(
  'undo_deliveries',
  `SELECT id, trigger_id AS of, status FROM plinth.trigger_delivery
   WHERE base_id = $1 AND change_seq = ANY ($2::bigint[]) ORDER BY change_seq, trigger_id, id LIMIT $3`,
)
const RUNS = statement(
  'undo_runs',
  `SELECT id, action_id AS of, status, cause FROM plinth.action_run
   WHERE base_id = $1 AND cause = ANY ($2::text[]) ORDER BY cause, id LIMIT $3`,
)

/** The changes of runs, or what deletions took with them: a revert names a change as its cause too, in another request. */
const changesBy = (visible: string, isTaken: boolean) => {
  const ofRequest = `operation = 'delete' AND request_id = (
       SELECT d.request_id FROM plinth.change d WHERE d.base_id = $1 AND d.seq = k.cause::bigint)`
  return shaped(`SELECT ${FOUND} FROM unnest($2::text[]) AS k (cause) CROSS JOIN LATERAL (
       SELECT * FROM plinth.change
       WHERE base_id = $1 AND cause COLLATE "C" BETWEEN (k.cause COLLATE "C") AND (k.cause COLLATE "C")
         ${isTaken ? `AND ${ofRequest}` : ''}
       ORDER BY cause COLLATE "C", seq LIMIT $3) c
     WHERE seq <= $4 AND ${visible} LIMIT $3`)
}

/**
 * Adds to the changes all that followed from them and that the reader may see, newest first.
 * @throws VALIDATION_ERROR above the limit
 */
export async function withEffects(
  db: Db,
  baseId: string,
  { access }: Pick<Reader, 'access'>,
  asked: readonly FoundChange[],
  upTo: number,
): Promise<{ changes: FoundChange[]; effects: Effects }> {
  const all = new Map(asked.map((change) => [change.seq, change]))
  const deliveries: Effect[] = []
  const runs: Effect[] = []
  const types = access.types('read', baseId)
  const visible = types === '*' ? 'true' : visibleTo('$5')
  const bounds = [LIMITS.undoneChanges + 1, upTo, ...(types === '*' ? [] : [[...types]])]
  const read = async <T extends object>(
    of: Statement,
    keys: readonly unknown[],
    more: readonly unknown[],
  ) => {
    const rows: T[] = []
    for (let from = 0; from < keys.length; from += AT_ONCE) {
      rows.push(...(await db.query<T>(of, [baseId, keys.slice(from, from + AT_ONCE), ...more])))
      if (all.size + rows.length > LIMITS.undoneChanges) throw tooMany()
      await nextTurn()
    }
    return rows
  }
  const most = [LIMITS.undoneChanges + 1]
  for (let from = asked; from.length > 0; ) {
    const seqs = from.map(({ seq }) => seq)
    const sent = await read<Effect>(DELIVERIES, seqs, most)
    const ids = sent.map(({ id }) => id)
    const ran = await read<Effect & { cause: string }>(RUNS, ids, most)
    const ofRuns = ran.map(({ id }) => id)
    const deletions = from.flatMap(({ seq, operation }) => (operation === 'delete' ? [String(seq)] : []))
    const rows = [
      ...(await read<FoundRow>(changesBy(visible, false), ofRuns, bounds)),
      ...(await read<FoundRow>(changesBy(visible, true), deletions, bounds)),
    ]
    const next = rows.map(toFound).filter(({ seq }) => !all.has(seq))
    for (const change of next) all.set(change.seq, change)
    const isRun = new Set(ran.map(({ cause }) => cause))
    deliveries.push(...sent.filter(({ id }) => !isRun.has(id)))
    runs.push(...ran.map(({ id, of, status }) => ({ id, of, status })))
    if (all.size + deliveries.length + runs.length > LIMITS.undoneChanges) throw tooMany()
    from = next
  }
  const changes = [...all.values()].sort((a, b) => b.seq - a.seq)
  // Triggers and their log are for readers of the whole base.
  const shown = types === '*' ? { deliveries, runs } : { deliveries: [], runs: [] }
  return { changes, effects: { changes: all.size - asked.length, ...shown } }
}
