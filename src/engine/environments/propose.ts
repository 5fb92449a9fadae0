/** Proposes a promotion: what it would change in production, and what prevents it. Changes nothing. */
import { ProposalBody } from '../../contract/config-shapes.ts'
import { check, inBody } from '../../contract/validate.ts'
import { type Detail, DomainError } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { requirePermission } from '../access/access.ts'
import type { Scope } from '../core/scope.ts'
import { type Checkable, checkData } from './check-data.ts'
import { checkReferences } from './check-references.ts'
import {
  type Edit,
  type Kept,
  type Migrated,
  nextOf,
  occasional,
  type ShownEdit,
  shown,
  summaryOf,
} from './edits.ts'
import { atNamed, atResource } from './failures.ts'
import { readFork } from './fork.ts'
import { atFrom, checkPreviewOf, how, selection } from './promote.ts'
import { readSnapshot } from './snapshot.ts'
import { type Conflict, compareSides } from './three-way.ts'

export type Proposal = {
  from: string
  baseId: string
  changes: readonly ShownEdit[]
  summary: Record<ShownEdit['op'], number>
  /** What production has changed too, in another way. A promotion needs `force` to replace it. */
  conflicts: readonly Conflict[]
  /** What production holds, or lacks, that the changes do not fit, with counts and samples. */
  breaks: readonly Detail[]
  /** What the preview deleted, and stays without `prune`. */
  kept?: readonly Kept[]
  /** How many records migrations would rewrite. */
  migrated?: Migrated
}

/**
 * Compares a preview with production, and checks the data of production and the references of the changes. Takes no lock
 * that writers wait for, so it needs no more than `read` on both.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND
 */
export async function propose(scope: Scope, baseId: string, input: object): Promise<Proposal> {
  requirePermission(scope.access, 'read', baseId, '*')
  const { from, prune = false, resources, migration } = check(ProposalBody, input, inBody())
  checkPreviewOf(baseId, from)
  requirePermission(scope.access, 'read', from, '*')
  const preview = await readSnapshot(scope, from).catch(atFrom)
  const sides = {
    fork: await readFork(scope.db, from),
    preview,
    production: await readSnapshot(scope, baseId),
  }
  const { edits, conflicts, kept } = await compareSides(sides, prune, selection(resources, sides))
  const { steps } = how(edits, migration)
  const detailsOf = detailsAt(resources ? atNamed : atResource)
  const changes: ShownEdit[] = []
  const breaks: Detail[] = []
  const checkable: Checkable<Edit>[] = []
  for (const edit of edits) {
    if (turnIsOver()) await nextTurn()
    changes.push(shown(edit))
    try {
      checkable.push({ edit, next: nextOf(edit), migration: steps(edit) })
    } catch (thrown) {
      breaks.push(...detailsOf(thrown, edit))
    }
  }
  for (const [edit, fault] of await checkReferences(sides.production, checkable))
    breaks.push(...detailsOf(fault, edit))
  const migrated: [id: string, records: number][] = []
  for (const [edit, { fault, rewritten }] of await checkData(scope, baseId, checkable)) {
    if (fault) breaks.push(...detailsOf(fault, edit))
    else if (rewritten !== undefined) migrated.push([edit.id, rewritten])
  }
  const more = occasional({ kept, migrated: Object.fromEntries(migrated) })
  return { from, baseId, changes, summary: summaryOf(changes), conflicts, breaks, ...more }
}

/** The details of a failure, at the place of the resource. */
const detailsAt =
  (located: typeof atResource) =>
  (thrown: unknown, edit: Edit): readonly Detail[] => {
    const fault = located(thrown, edit)
    if (!(fault instanceof DomainError)) throw thrown
    return fault.details
  }
