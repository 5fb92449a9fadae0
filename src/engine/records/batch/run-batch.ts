/** Batch: many operations in one transaction, ordered by their conflicts and written as sets. */

import { lockConfiguration } from '../../configuration/lifecycle/lock.ts'
import { bypassed } from '../../core/caches.ts'
import { rightsOf } from '../../core/row-policy/apply.ts'
import { runPlanned } from '../../core/write/run-planned.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { firstWarnings } from '../../schema/json-schema/schema-warnings.ts'
import { requireBaseAccess } from '../../storage/access/access.ts'
import { type ByteBudget, checkByteBudget, openByteBudget } from './byte-budget.ts'
import { refuse } from './failures.ts'
import { upsertPlain } from './fast-path.ts'
import { misspeltIn } from './misspelt.ts'
import { hasOwnLinks } from './nested-links.ts'
import {
  type ConfigurationOperation,
  type DataOperation,
  type Failure,
  isConfiguration,
  isOfRecord,
  kindOfOperation,
  type Operation,
} from './operation.ts'
import type { Outcome } from './outcome.ts'
import { requirePermissions } from './permissions.ts'
import { type Prepared, prepare } from './prepare.ts'
import { readList, readOperations } from './read.ts'
import { runConfiguration } from './run-configuration.ts'
import { runData } from './run-data.ts'

export { type Outcome, outcomeRows, outcomeView, withoutRecord } from './outcome.ts'
export { requirePermissions } from './permissions.ts'

export type BatchResult = { data: Outcome[]; warnings?: readonly string[] }

/**
 * Runs operations atomically in one transaction. All are parsed and validated before the first write, and
 * their errors are reported together.
 * @throws FORBIDDEN, VALIDATION_ERROR, NOT_FOUND or CONFLICT of the first failed operation, with details
 * under its path
 */
export async function runBatch(scope: WriteScope, baseId: string, raw: unknown): Promise<BatchResult> {
  requireBaseAccess(rightsOf(scope), baseId)
  const list = readList(raw)
  await requirePermissions(scope, baseId, list)
  const { operations, failures } = await readOperations(list, scope.limits)
  if (list.some(kindOfOperation)) return runMixed(scope, baseId, operations, failures)
  const data = operations.filter((operation): operation is DataOperation => !isConfiguration(operation))
  checkByteBudget(scope.limits.batchBytes, data.filter(isOfRecord))
  const { types } = refuseFaults(await prepare(scope, baseId, data), failures)
  const warnings = await misspeltIn(scope, data, types)
  const done = await upsertPlain(scope, data, types)
  if (done) return { data: done, warnings }
  return withinBudget(scope, (budget) => {
    const run = async (within: WriteScope) => {
      const outcomes = new Map<number, Outcome>()
      await runData(within, baseId, data, types, outcomes, budget())
      return { ...inOrder(outcomes), warnings }
    }
    return runPlanned(scope, run, 'statements')
  })
}

/** Deducts the bytes of a batch from the limit of its request. Each attempt of a retried transaction starts with a new budget. */
export async function withinBudget<T>(
  scope: WriteScope,
  run: (open: () => ByteBudget) => Promise<T>,
): Promise<T> {
  let budget = openByteBudget(scope.batches.left)
  const done = await run(() => {
    budget = openByteBudget(scope.batches.left)
    return budget
  })
  scope.batches.left = budget.left
  return done
}

/**
 * Throws errors by priority: malformed operations with known validation errors, then missing types, then
 * validation errors.
 */
function refuseFaults(prepared: Prepared, failures: readonly Failure[] = []): Prepared {
  if (failures.length > 0) refuse([...failures, ...prepared.faults])
  refuse(prepared.missing)
  refuse(prepared.faults)
  return prepared
}

const inOrder = (outcomes: ReadonlyMap<number, Outcome>) => ({
  data: [...outcomes.values()].sort((a, b) => a.index - b.index),
})

/** Runs a batch with configuration changes: the data operations between two changes run as one group. */
function runMixed(
  scope: WriteScope,
  baseId: string,
  operations: readonly Operation[],
  failures: readonly Failure[],
): Promise<BatchResult> {
  const run = async (whole: WriteScope, budget: ByteBudget) => {
    const within: WriteScope = { ...whole, caches: bypassed(scope.caches) }
    await lockConfiguration(within, baseId)
    refuseFaults(await prepare(within, baseId, unaffectedOperations(operations)), failures)
    const outcomes = new Map<number, Outcome>()
    const warnings: string[] = []
    for (const part of partsOf(operations)) {
      if (!Array.isArray(part)) outcomes.set(part.index, await runConfiguration(within, baseId, part))
      else {
        const { types } = refuseFaults(await prepare(within, baseId, part))
        warnings.push(...(await misspeltIn(within, part, types)))
        await runData(within, baseId, part, types, outcomes, budget)
      }
    }
    return { ...inOrder(outcomes), warnings: firstWarnings(warnings) }
  }
  return withinBudget(scope, (budget) => runPlanned(scope, (whole) => run(whole, budget())))
}

/** Data operations that no configuration change affects: those before all of them, or on other types. */
function unaffectedOperations(operations: readonly Operation[]): DataOperation[] {
  const configured = new Set<string>()
  const unaffected: DataOperation[] = []
  for (const operation of operations) {
    if (isConfiguration(operation)) configured.add(operation.id)
    else if (
      'recordType' in operation && !hasOwnLinks(operation)
        ? !configured.has(operation.recordType)
        : configured.size === 0
    )
      unaffected.push(operation)
  }
  return unaffected
}

/** Groups consecutive data operations; configuration operations are separate. */
function partsOf(operations: readonly Operation[]): (DataOperation[] | ConfigurationOperation)[] {
  const parts: (DataOperation[] | ConfigurationOperation)[] = []
  for (const operation of operations) {
    const last = parts.at(-1)
    if (isConfiguration(operation)) parts.push(operation)
    else if (Array.isArray(last)) last.push(operation)
    else parts.push([operation])
  }
  return parts
}
