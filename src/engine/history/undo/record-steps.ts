/** Reverts changes of records of one type, in one statement each. The records are locked. */
import { invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { authorship } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import {
  guardUnique,
  hasUnique,
  releaseUnique,
  variantFor,
  type WriteStatement,
} from '../../data/indexes/index.ts'
import { BRING_BACK, type BroughtBackRow } from '../../data/ledger/bring-back.ts'
import { logLinks } from '../../data/ledger/relationship-statements.ts'
import { REMOVE_UNLINKED, type RemovedRow } from '../../data/ledger/remove.ts'
import { SET_BACK } from '../../data/ledger/set-state.ts'
import { authorAt } from '../../log/log-rows.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { statement } from '../../storage/database/client.ts'
import { lostRace } from '../../storage/database/retry-races.ts'
import type { Obstacle, Step } from './plan-steps.ts'

type Within = { readonly scope: WriteScope }
/** Reverts steps. Returns what prevents it. */
export type WorkOnType = (within: Within, type: CompiledType, steps: readonly Step[]) => Promise<Obstacle[]>

export const PAIR_TAKEN = 'Another record has its external_id now.'

export const versionOf = ({ act }: Step): number => ('version' in act ? act.version : 0)

export const idsOf = (steps: readonly Step[]) => steps.map(({ change }) => change.id)
export const seqsOf = (steps: readonly Step[]) => steps.map(({ change }) => String(change.seq))

/** Runs a statement on the records of a type. */
const write = <Row>(
  { scope }: Within,
  type: CompiledType,
  how: WriteStatement,
  values: readonly unknown[],
): Promise<Row[]> =>
  guardUnique(type, () => scope.db.query<Row>(variantFor(how, type), [type.baseId, type.id, ...values]))

export const deleteRecords: WorkOnType = async (undoing, type, steps) => {
  const values = [idsOf(steps), null, null, ...authorship(undoing.scope), seqsOf(steps)]
  const rows = await write<RemovedRow>(undoing, type, REMOVE_UNLINKED, values)
  const linked = new Set(rows.flatMap(({ kind, id }) => (kind === 'deleted' ? [] : id)))
  return steps.flatMap(({ change }) =>
    linked.has(change.id)
      ? { change, code: 'linked' as const, by: null, message: 'Later requests have linked the record.' }
      : [],
  )
}

/** Sets records back to versions of them, which their schema must accept. */
export const setBack: WorkOnType = async (undoing, type, steps) => {
  const { scope } = undoing
  const valid: boolean[] = []
  const states = await statesOf(undoing, type, steps)
  for (const { data, is_same } of states) {
    if (turnIsOver()) await nextTurn()
    const [fault, ...more] = type.schema.validate(data, '/data', scope.checks)
    // A change of status keeps the data, so existing violations of the schema are acceptable.
    if (fault && !is_same) throw invalid(fault, ...more)
    valid.push(fault === undefined)
  }
  // Records that exchanged unique values exchange them back. The last state of each is what is written.
  const after = new Map(steps.map(({ change: { id } }, i) => [id, { data: states[i]?.data }]))
  const becoming = [...after].map(([id, state]) => ({ id, after: state }))
  if (hasUnique(type)) await releaseUnique(scope.db, type.baseId, type.id, becoming)
  const values = [idsOf(steps), steps.map(versionOf), seqsOf(steps), valid, ...authorship(scope)]
  await write(undoing, type, SET_BACK, values)
  return []
}

export const bringBack: WorkOnType = async (undoing, type, steps) => {
  const states = await statesOf(undoing, type, steps)
  const valid = states.map(({ data }) => type.schema.isValid(data))
  const rows = await write<BroughtBackRow>(undoing, type, BRING_BACK, [
    ...[idsOf(steps), steps.map(versionOf), seqsOf(steps), valid],
    ...[...authorship(undoing.scope), null, null],
  ])
  // Nothing locks what is not there: another writer has brought it back since the plan.
  if (rows.some(({ kind }) => kind === 'retry')) throw lostRace('a record is there again')
  const taken = new Set(rows.flatMap(({ kind, id }) => (kind === 'restored' ? [] : id)))
  return steps.flatMap(({ change }) =>
    taken.has(change.id) ? { change, code: 'refused' as const, by: null, message: PAIR_TAKEN } : [],
  )
}

async function statesOf({ scope }: Within, type: CompiledType, steps: readonly Step[]) {
  const asked = [type.baseId, type.id, idsOf(steps), steps.map(versionOf)]
  return scope.db.query<{ data: unknown; is_same: boolean }>(STATES, asked)
}

// The statements that lock what an undo reverts, read its former states, and delete links.

/** The states of `$3` in the versions `$4`, and whether each has the data of the one that it replaces. */
const STATES = statement(
  'undo_states',
  `SELECT i.n::int AS n, c.data, coalesce(c.data = coalesce(lag(c.data) OVER (PARTITION BY i.id ORDER BY i.n), (
       SELECT r.data FROM plinth.record r
       WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = i.id COLLATE "C")), false) AS is_same
   FROM unnest($3::text[], $4::int[]) WITH ORDINALITY AS i (id, version, n)
   CROSS JOIN LATERAL (
     SELECT data FROM plinth.change c
     WHERE c.kind = 'record' AND c.base_id = $1 AND c.record_type = $2 AND c.id = i.id COLLATE "C" AND c.version = i.version LIMIT 1) c
   ORDER BY i.n`,
)

/** Deletes links, each with the change to name as the cause. */
export const DELETE_LINKS = statement(
  'undo_delete_links',
  `WITH i AS MATERIALIZED (SELECT * FROM unnest($2::text[], $3::text[]) AS i (id, cause)),
   w AS (
     DELETE FROM plinth.relationship r USING i
     WHERE r.base_id = $1 AND r.id = ANY ($2::text[]) AND r.id = i.id COLLATE "C" RETURNING r.*, i.cause),
   logged AS (${logLinks('w', 'delete', authorAt(4), 'w.cause')})
   SELECT id FROM w`,
)

/** The states of links `$2` in the versions `$3`. */
export const LINK_STATES = statement(
  'undo_link_states',
  `SELECT i.n::int AS n, c.data, r.external_id IS NOT NULL AS has_pair
   FROM unnest($2::text[], $3::int[]) WITH ORDINALITY AS i (id, version, n)
   CROSS JOIN LATERAL (
     SELECT data FROM plinth.change c
     WHERE c.kind = 'relationship' AND c.base_id = $1 AND c.id = i.id COLLATE "C" AND c.version = i.version LIMIT 1) c
   LEFT JOIN plinth.relationship r ON r.base_id = $1 AND r.id = i.id COLLATE "C"
   ORDER BY i.n`,
)

/** Locks the types and then the records, in the lock order of all writers. */
export const LOCK_RECORDS = statement(
  'undo_lock_records',
  `WITH ty AS MATERIALIZED (
     SELECT id FROM plinth.record_type WHERE base_id = $1 AND id = ANY ($2::text[]) ORDER BY id FOR KEY SHARE)
   SELECT 1 AS one FROM plinth.record r
   JOIN (SELECT DISTINCT * FROM unnest($2::text[], $3::text[]) AS i (record_type, id)) i
     ON r.record_type = i.record_type COLLATE "C" AND r.id = i.id COLLATE "C"
   WHERE (SELECT count(*) FROM ty) >= 0 AND r.base_id = $1 ORDER BY r.record_type, r.id FOR UPDATE OF r`,
)
export const LOCK_LINKS = statement(
  'undo_lock_links',
  `SELECT 1 AS one FROM plinth.relationship WHERE base_id = $1 AND id = ANY ($2::text[])
   ORDER BY source_row, rel_type, target_row FOR UPDATE`,
)
