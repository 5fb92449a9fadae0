/** Proposes a promotion: what it would change in production, and what prevents it. Changes nothing. */
import { ProposalBody } from '../../contract/config-shapes.ts'
import { check, inBody } from '../../contract/validate.ts'
import type { Detail } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import type { Scope } from '../core/scope.ts'
import { requirePermission } from '../storage/access/access.ts'
import type { RecordsRewritten } from './apply-edits.ts'
import { clientWarnings } from './client-warnings.ts'
import { type Kept, nonEmpty, type ShownEdit, shown, summaryOf } from './edits.ts'
import { atNamed, atResource } from './failures.ts'
import { readFork } from './fork.ts'
import { migrationWarnings, offering, previewMigrations } from './preview-migrations.ts'
import { withOrigins } from './promotion-edits.ts'
import { atFrom, checkPreviewOf, prepareOptions, selection } from './promotion-request.ts'
import { readSnapshot } from './snapshot.ts'
import { type Conflict, compareSides } from './three-way.ts'
import { tryEdits } from './try-edits.ts'

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
  /** What breaks for clients that were generated from the GraphQL schema of production. */
  warnings?: readonly string[]
  /** How many records migrations would rewrite. */
  recordsRewritten?: RecordsRewritten
}

/**
 * Compares a preview with production, and tries the changes there by the checks of a promotion. Takes no lock that writers
 * wait for, so it needs no more than `read` on both.
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
  const changes: ShownEdit[] = []
  for (const edit of edits) {
    if (turnIsOver()) await nextTurn()
    changes.push(shown(edit))
  }
  const past = await withOrigins(scope.db, baseId, from, edits)
  const migrations = await previewMigrations(scope.db, baseId, from, past, migration)
  const located = offering(resources ? atNamed : atResource, migrations)
  const {
    breaks,
    recordsRewritten,
    warnings: ofChanges,
  } = await tryEdits(scope, baseId, past, prepareOptions(past, migration, located))
  const warnings = [
    ...migrationWarnings(migrations),
    ...ofChanges,
    ...(await clientWarnings(scope, baseId, edits)),
  ]
  const more = nonEmpty({ kept, recordsRewritten, warnings })
  return { from, baseId, changes, summary: summaryOf(changes), conflicts, breaks, ...more }
}
