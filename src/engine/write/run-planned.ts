import type { Db } from '../database/client.ts'
import { openSummary } from './deletion-summary.ts'
import type { WriteScope } from './write.ts'

/**
 * Runs a deletion in one transaction and, where the request asks first, holds it to its plan before that ends. `work`
 * tells `taken` of its scope what goes; `told` is for what knows that before it begins, and need not do it in vain.
 * A part of a larger deletion leaves the demand to the whole.
 */
export function runPlanned<T>(
  scope: WriteScope,
  work: (within: WriteScope, told: () => void) => Promise<T>,
  begin: keyof Pick<Db, 'transaction' | 'statements'> = 'transaction',
): Promise<T> {
  return scope.db[begin](async (tx) => {
    const { planning, taken: ofWhole } = scope
    if (!planning || ofWhole) return work({ ...scope, db: tx }, () => {})
    // Anew each time that the transaction is run.
    const taken = openSummary()
    const told = () => planning.demand(taken)
    const done = await work({ ...scope, db: tx, taken }, told)
    told()
    return done
  })
}
