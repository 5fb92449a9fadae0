/** Proposes a promotion: what it would change in production, and what stands against it. Changes nothing. */
import { PromoteBody } from '../../contract/config-shapes.ts'
import { camelFields } from '../../contract/field-names.ts'
import { check, inBody } from '../../contract/validate.ts'
import { type Detail, DomainError } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/turns.ts'
import { requirePermission } from '../access/access.ts'
import { readFields } from '../configuration/lifecycle/fields.ts'
import type { Scope } from '../core/scope.ts'
import { type Edit, type ShownEdit, shown, summaryOf } from './edits.ts'
import { readFork } from './fork.ts'
import { atFrom, atResource, checkPreviewOf, selection } from './promote.ts'
import { readSnapshot } from './snapshot.ts'
import { type Conflict, compareSides } from './three-way.ts'

export type Proposal = {
  from: string
  baseId: string
  changes: readonly ShownEdit[]
  summary: Record<ShownEdit['op'], number>
  /** What production has changed too, in another way. A promotion needs `force` to replace it. */
  conflicts: readonly Conflict[]
  /** What production holds that the changes do not fit, with counts and samples. */
  breaks: readonly Detail[]
}

/**
 * Compares a preview with production, and checks the data of production against the changes. Takes no lock
 * that writers wait for, so it needs no more than `read` on both.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND
 */
export async function propose(scope: Scope, baseId: string, input: object): Promise<Proposal> {
  requirePermission(scope.access, 'read', baseId, '*')
  const { from, prune = false, resources } = check(PromoteBody, input, inBody())
  checkPreviewOf(baseId, from)
  requirePermission(scope.access, 'read', from, '*')
  const preview = await readSnapshot(scope, from).catch(atFrom)
  const sides = {
    fork: await readFork(scope.db, from),
    preview,
    production: await readSnapshot(scope, baseId),
  }
  const { edits, conflicts } = await compareSides(sides, prune, selection(resources, sides))
  const changes: ShownEdit[] = []
  const breaks: Detail[] = []
  for (const edit of edits) {
    if (turnIsOver()) await nextTurn()
    changes.push(shown(edit))
    breaks.push(...(await breaksOf(scope, baseId, edit)))
  }
  return { from, baseId, changes, summary: summaryOf(changes), conflicts, breaks }
}

/** What the data of production has against an edit, at the place of the resource. */
async function breaksOf(scope: Scope, baseId: string, edit: Edit): Promise<readonly Detail[]> {
  const { kind, id, after } = edit
  if (!kind.checkData) return []
  const [row] = await kind.table(scope.db).findMany({ where: { baseId, id } })
  if (!row) return []
  try {
    const next = after === null ? null : readFields({ kind, id }, camelFields(after), null)
    await kind.checkData(scope, row, next)
    return []
  } catch (thrown) {
    const fault = atResource(thrown, edit)
    if (!(fault instanceof DomainError)) throw thrown
    return fault.details
  }
}
