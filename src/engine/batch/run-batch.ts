/** Batch: many operations in one transaction, ordered by their conflicts and written as sets. */
import { demandSight } from '../access/access.ts'
import { lockConfiguration } from '../configuration/lifecycle/lock.ts'
import { rightsOf } from '../row-policy/apply.ts'
import { runPlanned } from '../write/run-planned.ts'
import type { WriteScope } from '../write/write.ts'
import { demandRoom, openByteBudget } from './byte-budget.ts'
import { type Failure, refuse } from './failures.ts'
import { upsertPlain } from './fast-path.ts'
import { hasOwnLinks } from './nested-links.ts'
import {
  asksConfiguration,
  type ConfigurationOperation,
  type DataOperation,
  isConfiguration,
  isOfRecord,
  type Operation,
} from './operation.ts'
import type { Outcome } from './outcome.ts'
import { demandAll } from './permissions.ts'
import { type Prepared, prepare } from './prepare.ts'
import { demandList, readOperations } from './read.ts'
import { runConfiguration } from './run-configuration.ts'
import { runData } from './run-data.ts'

export { type Outcome, outcomeRows, withoutRecord } from './outcome.ts'

/**
 * Runs operations in one transaction, all of them or none. All are read, and held to what is there, before the first
 * write; those that fail so are named together.
 * @throws FORBIDDEN, VALIDATION_ERROR, NOT_FOUND or CONFLICT as the first operation does, with details below its place
 */
export async function runBatch(
  scope: WriteScope,
  baseId: string,
  raw: unknown,
): Promise<{ data: Outcome[] }> {
  demandSight(rightsOf(scope), baseId)
  const list = demandList(raw)
  await demandAll(scope, baseId, list)
  const { operations, failures } = await readOperations(list, scope.limits)
  if (list.some(asksConfiguration)) return runMixed(scope, baseId, operations, failures)
  const data = operations.filter((operation): operation is DataOperation => !isConfiguration(operation))
  demandRoom(scope.limits.batchBytes, data.filter(isOfRecord))
  const { types } = settle(await prepare(scope, baseId, data), failures)
  const done = await upsertPlain(scope, data, types)
  if (done) return { data: done }
  const run = async (within: WriteScope) => {
    const outcomes = new Map<number, Outcome>()
    await runData(within, baseId, data, types, outcomes, openByteBudget(scope.limits.batchBytes))
    return inOrder(outcomes)
  }
  return runPlanned(scope, run, 'statements')
}

/** Refuses shapes first, with the faults that are known beside them; then types that are missing, then faults alone. */
function settle(prepared: Prepared, failures: readonly Failure[] = []): Prepared {
  if (failures.length > 0) refuse([...failures, ...prepared.faults])
  refuse(prepared.missing)
  refuse(prepared.faults)
  return prepared
}

const inOrder = (outcomes: ReadonlyMap<number, Outcome>) => ({
  data: [...outcomes.values()].sort((a, b) => a.index - b.index),
})

/** A batch that changes the configuration: what stands between two such changes runs together. */
function runMixed(
  scope: WriteScope,
  baseId: string,
  operations: readonly Operation[],
  failures: readonly Failure[],
): Promise<{ data: Outcome[] }> {
  return runPlanned(scope, async (whole) => {
    // Nothing of what the transaction changes is in memory.
    const caches = { ...scope.caches, live: () => false }
    const within: WriteScope = { ...whole, caches }
    await lockConfiguration(within, baseId)
    settle(await prepare(within, baseId, settledBefore(operations)), failures)
    const outcomes = new Map<number, Outcome>()
    const room = openByteBudget(scope.limits.batchBytes)
    for (const part of partsOf(operations)) {
      if (!Array.isArray(part)) outcomes.set(part.index, await runConfiguration(within, baseId, part))
      else {
        const { types } = settle(await prepare(within, baseId, part))
        await runData(within, baseId, part, types, outcomes, room)
      }
    }
    return inOrder(outcomes)
  })
}

/** The operations that no earlier one can make right or wrong: those before all configuration, or of other types. */
function settledBefore(operations: readonly Operation[]): DataOperation[] {
  const configured = new Set<string>()
  const settled: DataOperation[] = []
  for (const operation of operations) {
    if (isConfiguration(operation)) configured.add(operation.id)
    else if (
      'recordType' in operation && !hasOwnLinks(operation)
        ? !configured.has(operation.recordType)
        : configured.size === 0
    )
      settled.push(operation)
  }
  return settled
}

/** Runs of data operations, and between them the configuration's one by one. */
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
