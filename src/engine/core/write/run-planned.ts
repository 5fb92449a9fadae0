import type { Db } from '../../storage/database/client.ts'
import { reviewOf } from './deletion-plan.ts'
import { isMany, openSummary } from './deletion-summary.ts'
import type { WriteScope } from './write.ts'

/**
 * Runs a deletion in one transaction. If the request needs approval, checks it against the plan before
 * commit. Passes the summary of what was deleted to `onDeletion` of the scope. `work` adds what it deletes to `summary`
 * of its scope. It may call `checkPlan` as soon as the summary is complete, to stop before the actual deletion. Part of
 * a larger deletion leaves the check to the whole.
 */
export function runPlanned<T>(
  scope: WriteScope,
  work: (within: WriteScope, checkPlan: () => void) => Promise<T>,
  begin: keyof Pick<Db, 'transaction' | 'statements'> = 'transaction',
): Promise<T> {
  return scope.db[begin](async (tx) => {
    const { planning, onDeletion, summary: ofWhole } = scope
    if ((!planning && !onDeletion) || ofWhole) return work({ ...scope, db: tx }, () => {})
    // Start with an empty summary on each run of the transaction.
    const summary = openSummary()
    const checkPlan = () => planning?.checkApproval(isMany(summary), () => reviewOf(summary))
    const done = await work({ ...scope, db: tx, summary }, checkPlan)
    checkPlan()
    onDeletion?.(summary)
    return done
  })
}
