/** Finds out what of an undo can be reverted, by trying, and reverts it. */
import { type Detail, DomainError } from '../../../foundation/errors.ts'
import { nextTurn } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { requireType } from '../../configuration/record-types/index.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { hasUnique } from '../../data/indexes/index.ts'
import { statement } from '../../storage/database/client.ts'
import { type FoundChange, tooMany } from './find-changes.ts'
import { causesOf, findRenamings, leaveToRenames, type Renaming } from './migrated-records.ts'
import { type Obstacle, type Step, stepsOf } from './plan-steps.ts'
import { openPolicyCheck } from './policy-check.ts'
import { mapResourceEntries, nameOf } from './resource-entries.ts'
import { runWave } from './run-steps.ts'
import { schedule } from './schedule.ts'

/** What happens to resources that others changed since: the undo or rollback is refused, leaves them, or takes those changes back too. */
export type OnConflict = 'fail' | 'fail_rollback' | 'skip' | 'force'

const SAVEPOINT = statement('undo_round', 'SAVEPOINT undo_round')
const ROLL_BACK = statement('undo_round_back', 'ROLLBACK TO SAVEPOINT undo_round')

type Outcome = { steps: Step[]; skipped: Obstacle[]; renamings: readonly Renaming[] }

/** Reverts what can be reverted. What others need, or the data of today refuses, is found only by trying. */
export async function revertAll(
  undoing: { scope: WriteScope; baseId: string },
  changes: readonly FoundChange[],
  onConflict: OnConflict,
): Promise<Outcome> {
  const { scope, baseId } = undoing
  const plans = await mapResourceEntries(scope.db, baseId, changes, (of) => ({
    ...{ changes: [...of.changes.values()], found: stepsOf(of, onConflict === 'force') },
    isGone: of.entries.at(-1)?.operation === 'delete',
  }))
  const renamings = await findRenamings(scope.db, baseId, changes)
  const planned = leaveToRenames(plans, renamings)
  const skipped = planned.flatMap((found) => ('code' in found ? [found] : []))
  let steps = planned.flatMap((found) => ('code' in found ? [] : found))
  if (steps.length > LIMITS.undoneChanges) throw tooMany()
  if (skipped.length > 0 && onConflict !== 'skip') throw conflict(skipped, onConflict)
  const leave = (obstacles: readonly Obstacle[]) => {
    const left = [...obstacles, ...recordsOfTypes(obstacles, steps), ...changesOfPromotions(obstacles, steps)]
    skipped.push(...left)
    const refused = new Set(left.map(({ change }) => nameOf(change)))
    steps = steps.filter(({ change }) => !refused.has(nameOf(change)))
  }
  leave(skipped.splice(0))
  await nextTurn()
  steps.sort((a, b) => b.change.seq - a.change.seq)
  const competing = await competingTypes(scope, baseId, steps)
  const outOfReach = await openPolicyCheck(scope, baseId, steps)
  for (let round = 0; round < LIMITS.undoRounds; round++) {
    await scope.db.query(SAVEPOINT, [])
    const competes = ({ change, movesPair }: Step) => movesPair || competing.has(change.recordType ?? '')
    const failed = await runAll(undoing, steps, competes)
    const obstacles = failed.length > 0 ? failed : await outOfReach(steps)
    if (obstacles.length === 0) return { steps, skipped, renamings }
    if (onConflict !== 'skip') throw conflict(obstacles, onConflict)
    await scope.db.query(ROLL_BACK, [])
    leave(obstacles)
  }
  throw conflict(skipped, onConflict)
}

/** The records of types that stay as they are: a migration changed both, so that one alone would not fit the other. */
function recordsOfTypes(obstacles: readonly Obstacle[], steps: readonly Step[]): Obstacle[] {
  const types = new Set(obstacles.flatMap(({ change: { kind, id } }) => (kind === 'record_type' ? id : [])))
  const changes = new Map(
    steps.flatMap(({ change }) =>
      change.kind === 'record' && types.has(change.recordType ?? '') ? [[nameOf(change), change]] : [],
    ),
  )
  return [...changes.values()].map((change) => ({
    change,
    code: 'refused',
    by: null,
    message: 'A change of its record type stays, which is part of this undo too.',
  }))
}

/** The changes of promotions: a part of one undone would leave it applied in the history, and not in the base. */
function changesOfPromotions(obstacles: readonly Obstacle[], steps: readonly Step[]): Obstacle[] {
  const promotions = new Set(
    obstacles.flatMap(({ change: { kind, id } }) => (kind === 'promotion' ? id : [])),
  )
  const changes = new Map(
    steps.flatMap(({ change }) =>
      change.kind !== 'promotion' && promotions.has(change.cause ?? '') ? [[nameOf(change), change]] : [],
    ),
  )
  return [...changes.values()].map((change) => ({
    change,
    code: 'refused',
    by: null,
    message: `Promotion "${change.cause}" made it. Roll the promotion back by its id.`,
  }))
}

async function runAll(
  undoing: { scope: WriteScope; baseId: string },
  steps: readonly Step[],
  competes: (step: Step) => boolean,
): Promise<Obstacle[]> {
  const within = { ...undoing, causesOf: (change: number) => causesOf(steps, change) }
  for (const wave of schedule(steps, ({ change }) => nameOf(change), competes)) {
    const obstacles = await runWave(within, wave)
    if (obstacles.length > 0) return obstacles
  }
  return []
}

/** The types whose records compete for unique values. */
async function competingTypes(
  scope: WriteScope,
  baseId: string,
  steps: readonly Step[],
): Promise<Set<string>> {
  const competing = new Set<string>()
  for (const id of new Set(steps.map(({ change }) => change.recordType)))
    if (id !== null && (await isCompeting(scope, baseId, id))) competing.add(id)
  return competing
}

async function isCompeting(scope: WriteScope, baseId: string, id: string): Promise<boolean> {
  try {
    return hasUnique(await requireType(scope, baseId, id))
  } catch (thrown) {
    // Deleted: the undo may bring it back. Its indexes are not known.
    if (thrown instanceof DomainError && thrown.code === 'NOT_FOUND') return true
    throw thrown
  }
}

function conflict(obstacles: readonly Obstacle[], onConflict: OnConflict): DomainError {
  const isRollback = onConflict === 'fail_rollback'
  const details = obstacles.map(
    ({ change: { kind, recordType, id, seq }, code, by, message }): Detail => ({
      path: isRollback ? `/${recordType === null ? '' : `${recordType}/`}${id}` : '',
      code,
      message: `Change ${seq} of ${recordType ?? kind} "${id}": ${message}`,
      received: seq,
      ...(by !== null && { expected: by }),
    }),
  )
  const isLater = obstacles.some(({ by }) => by !== null)
  const later = isLater ? ' on_conflict=force undoes the changes that came after, too.' : ''
  const advice = isRollback
    ? 'Undo what came after it first, or name the others in resources to take those back only.'
    : `Send on_conflict=skip to leave them as they are.${later}`
  return new DomainError(
    'CONFLICT',
    `${obstacles.length} of the resources cannot be reverted, because something else depends on their current state. Nothing was written. ${advice}`,
    { details },
  )
}
