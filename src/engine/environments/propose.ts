/** Proposes a promotion: what it would change in production, and what prevents it. Changes nothing. */
import { ProposalBody } from '../../contract/config-shapes.ts'
import { check, inBody } from '../../contract/validate.ts'
import { type Detail, DomainError } from '../../foundation/errors.ts'
import { mapInTurns } from '../../foundation/event-loop-turns.ts'
import { isChangeSet } from '../core/change-set/change-set-scope.ts'
import type { Scope } from '../core/scope.ts'
import { requestChecks, type WriteScope } from '../core/write/write.ts'
import { requirePermission } from '../storage/access/access.ts'
import { compileAccess } from '../storage/access/compile-access.ts'
import { applyEdits, checkData, prepareEdits, type RecordsRewritten } from './apply-edits.ts'
import { proposeChangeSet } from './change-sets/propose.ts'
import { changeWarnings, clientWarnings } from './change-warnings.ts'
import { nextOf, nonEmpty, shown, summaryOf } from './edits.ts'
import { atNamed, atResource } from './failures.ts'
import { migrationWarnings, offering, previewMigrations } from './preview-migrations.ts'
import type { Proposal } from './promotion.ts'
import { type PromotionEdit, withOrigins } from './promotion-edits.ts'
import { atFrom, ofConfiguration, prepareOptions, previewMeant, selection } from './promotion-request.ts'
import { hashOf, readSnapshot } from './snapshot.ts'
import { compareSides, readFork } from './three-way.ts'

/**
 * Compares a preview with production, and tries the changes there by the checks of a promotion. Takes no lock that writers
 * wait for, so it needs no more than `read` on both.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND
 */
export async function propose(scope: Scope, baseId: string, input: object): Promise<Proposal> {
  const body = check(ProposalBody, input, inBody())
  const { prune = false, migration } = body
  const from = await previewMeant(scope, baseId, body.from)
  if (await isChangeSet(scope, from)) return proposeChangeSet(scope, baseId, { ...body, from })
  requirePermission(scope.access, 'read', baseId, '*')
  const resources = ofConfiguration(body)
  requirePermission(scope.access, 'read', from, '*')
  const preview = await readSnapshot(scope, from).catch(atFrom)
  const sides = {
    fork: await readFork(scope.db, from),
    preview,
    production: await readSnapshot(scope, baseId),
  }
  const { edits, conflicts, kept } = await compareSides(sides, prune, selection(resources, sides))
  const changes = await mapInTurns(edits, shown)
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
  const more = { hash: await hashOf(preview), ...nonEmpty({ kept, recordsRewritten, warnings }) }
  return { from, baseId, changes, summary: summaryOf(changes), conflicts, breaks, ...more }
}

// Tries edits: what applying them would refuse, found without locks and without writing.

type Tried = {
  readonly breaks: readonly Detail[]
  readonly recordsRewritten: RecordsRewritten
  readonly warnings: readonly string[]
}

/** All faults of edits, in their shape, against the configuration and each other, and against the data of the base; and what they warn of. */
async function tryEdits(
  scope: Scope,
  baseId: string,
  edits: readonly PromotionEdit[],
  { migrationOf, located, ...rest }: ReturnType<typeof prepareOptions>,
): Promise<Tried> {
  const breaks: Detail[] = []
  const readable = edits.filter((edit) => {
    try {
      nextOf(edit)
      return true
    } catch (thrown) {
      breaks.push(...detailsOf(located(thrown, edit)))
      return false
    }
  })
  const prepared = await prepareEdits(readable, { ...rest, located })
  const onFault = (fault: DomainError) => breaks.push(...fault.details)
  await applyEdits(promoterOf(scope, baseId), baseId, prepared, { isForced: false, located, onFault })
  const checkable = prepared.map(({ edit, next }) => ({ edit, next, migration: migrationOf(edit) }))
  const recordsRewritten: [id: string, records: number][] = []
  for (const [edit, { fault, rewritten }] of await checkData(scope, baseId, checkable)) {
    if (fault) breaks.push(...detailsOf(located(fault, edit)))
    else if (rewritten !== undefined) recordsRewritten.push([edit.id, rewritten])
  }
  const warnings = await changeWarnings(prepared)
  return { breaks, recordsRewritten: Object.fromEntries(recordsRewritten), warnings }
}

/** A scope with the rights that a promotion needs, for the checks. The caller may read all that they read. */
const promoterOf = (scope: Scope, base: string): WriteScope => ({
  ...scope,
  access: compileAccess([{ base, record_type: '*', environment: '*', permission: 'admin' }]),
  via: 'promotion',
  checks: requestChecks(),
  onCommit: () => {},
})

function detailsOf(fault: unknown): readonly Detail[] {
  if (!(fault instanceof DomainError)) throw fault
  return fault.details
}
