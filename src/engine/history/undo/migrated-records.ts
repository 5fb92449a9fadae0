/**
 * Changes of records that a rename of a property made. The undo of the change of their record type renames it back
 * in all records, so that what was written since stays.
 */

import { isDeepStrictEqual } from 'node:util'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { type MigrationStep, migrate, readMigration } from '../../configuration/record-types/index.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import type { FoundChange } from './find-changes.ts'
import type { Obstacle, Step } from './plan-steps.ts'

/** A change of a record type whose migration only renames properties. */
export type Renaming = {
  readonly type: FoundChange
  readonly steps: readonly MigrationStep[]
  /** The changes of records that it made, of those to undo. */
  readonly made: ReadonlySet<number>
}

const MIGRATION = statement(
  'undo_migration',
  `SELECT request_id, data -> 'migration' AS migration FROM plinth.change
   WHERE base_id = $1 AND seq = $2 AND kind = 'record_type' AND data ? 'migration'`,
)
/** The data before and after changes of records of a request. */
const STATES = statement(
  'undo_migrated_states',
  `SELECT c.seq::float8 AS seq, c.data, p.data AS before
   FROM unnest($3::text[], $4::int[]) AS i (id, version)
   CROSS JOIN LATERAL (
     SELECT seq, data FROM plinth.change c
     WHERE c.kind = 'record' AND c.base_id = $1 AND c.record_type = $2 AND c.id = i.id COLLATE "C" AND c.version = i.version
       AND c.request_id = $5 LIMIT 1) c
   CROSS JOIN LATERAL (
     SELECT data FROM plinth.change p
     WHERE p.kind = 'record' AND p.base_id = $1 AND p.record_type = $2 AND p.id = i.id COLLATE "C" AND p.version < i.version
     ORDER BY p.version DESC LIMIT 1) p`,
)

/** The changes to undo that renamed properties, each with the changes of records that it made. */
export async function findRenamings(
  db: Db,
  baseId: string,
  changes: readonly FoundChange[],
): Promise<Renaming[]> {
  const renamings: Renaming[] = []
  for (const type of changes) {
    if (type.kind !== 'record_type' || type.operation !== 'update') continue
    const [row] = await db.query<{ request_id: string; migration: unknown }>(MIGRATION, [baseId, type.seq])
    const steps = row ? readMigration(row) : []
    if (!row || steps.length === 0 || steps.some(({ op }) => op !== 'rename')) continue
    const own = changes.filter(
      ({ kind, recordType, operation, seq }) =>
        kind === 'record' && recordType === type.id && operation === 'update' && seq < type.seq,
    )
    renamings.push({ type, steps, made: await madeBy(db, baseId, { ...type, steps, ...row }, own) })
  }
  return renamings
}

async function madeBy(
  db: Db,
  baseId: string,
  { id, steps, request_id }: { id: string; steps: readonly MigrationStep[]; request_id: string },
  changes: readonly FoundChange[],
): Promise<Set<number>> {
  const made = new Set<number>()
  for (let from = 0; from < changes.length; from += LIMITS.undoneMigratedAtOnce) {
    const some = changes.slice(from, from + LIMITS.undoneMigratedAtOnce)
    const rows = await db.query<{ seq: number; data: unknown; before: unknown }>(STATES, [
      ...[baseId, id, some.map((change) => change.id), some.map(({ version }) => version), request_id],
    ])
    for (const { seq, data, before } of rows) {
      if (turnIsOver()) await nextTurn()
      if (data === null || isDeepStrictEqual(before, data)) continue
      if (isDeepStrictEqual(migrate(before, steps), data)) made.add(seq)
    }
  }
  return made
}

type Plan = {
  readonly changes: readonly FoundChange[]
  readonly found: readonly Step[] | Obstacle
  /** Whether something has deleted the resource since. */
  readonly isGone: boolean
}

/** Leaves to the undo of a rename what it takes back, also of records that something else has changed since. */
export function leaveToRenames(
  plans: readonly Plan[],
  renamings: readonly Renaming[],
): (readonly Step[] | Obstacle)[] {
  const planOf = new Map(
    plans.flatMap(({ changes, found }) => changes.map(({ seq }) => [seq, found] as const)),
  )
  return plans.map(({ changes, found, isGone }) => {
    const makers = changes.map(({ seq }) => renamings.find(({ made }) => made.has(seq))?.type.seq ?? 0)
    const reverts = makers.map((maker) => planOf.get(maker))
    if (reverts.some((revert) => !revert || 'code' in revert)) return found
    if ('length' in found && found.some(({ change }) => !changes.includes(change))) return found
    const isDone = reverts.every((revert) => revert && 'length' in revert && revert.length === 0)
    if ('code' in found)
      return isDone || isGone ? [] : changes.map((change, n) => toMigrate(change, makers[n] ?? 0, false))
    return isDone
      ? found
      : found.map(({ change }) => toMigrate(change, makers[changes.indexOf(change)] ?? 0, true))
  })
}

const toMigrate = (change: FoundChange, by: number, isLast: boolean): Step => ({
  ...{ change, act: { kind: 'migrate', by, isLast }, movesPair: false },
})

/** By the ids of records: the changes that the undo of a rename reverts, if nothing came after them. */
export const causesOf = (steps: readonly Step[], renaming: number): ReadonlyMap<string, number> =>
  new Map(
    steps.flatMap(({ change: { id, seq }, act }) =>
      act.kind === 'migrate' && act.isLast && act.by === renaming ? [[id, seq] as const] : [],
    ),
  )
