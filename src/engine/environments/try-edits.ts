/** Tries edits: what applying them would refuse, found without locks and without writing. */
import { type Detail, DomainError } from '../../foundation/errors.ts'
import type { Scope } from '../core/scope.ts'
import { requestChecks, type WriteScope } from '../core/write/write.ts'
import { compileAccess } from '../storage/access/compile-access.ts'
import { applyEdits, prepareEdits, type RecordsRewritten } from './apply-edits.ts'
import { changeWarnings } from './change-warnings.ts'
import { checkData } from './check-data.ts'
import { nextOf } from './edits.ts'
import type { PromotionEdit } from './promotion-edits.ts'
import type { prepareOptions } from './promotion-request.ts'

type Tried = {
  readonly breaks: readonly Detail[]
  readonly recordsRewritten: RecordsRewritten
  readonly warnings: readonly string[]
}

/** All faults of edits, in their shape, against the configuration and each other, and against the data of the base; and what they warn of. */
export async function tryEdits(
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
