/** Batch: many operations in one transaction, ordered by their conflicts and written as sets. */

import { withPaths } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { define, put, remove, type View } from '../../configuration/lifecycle/index.ts'
import { lockConfiguration } from '../../configuration/lifecycle/lock.ts'
import { bypassed } from '../../core/caches.ts'
import { policyOn, rightsOf } from '../../core/row-policy/apply.ts'
import { runPlanned } from '../../core/write/run-planned.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { firstWarnings } from '../../schema/json-schema/schema-warnings.ts'
import { requireBaseAccess } from '../../storage/access/access.ts'
import { warningsOf } from '../meant-links.ts'
import { type ByteBudget, checkByteBudget, openByteBudget } from './byte-budget.ts'
import { plainUpserts } from './fast-path.ts'
import { ofOperation, rangesOf, refuse } from './faults.ts'
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
import { type Prepared, prepare, type Types } from './prepare.ts'
import { readList, readOperations } from './read.ts'
import { runData } from './run-data.ts'

export { type Outcome, outcomeRows, outcomeView, withoutRecord } from './outcome.ts'
export { requirePermissions } from './permissions.ts'

export type BatchResult = { data: Outcome[]; warnings?: readonly string[] }

/** A batch that is read and validated. */
type Planned = {
  /** Writes it with one statement, if that can do. Null where it could not: nothing is written then. */
  readonly atOnce?: () => Promise<BatchResult | null>
  readonly run: () => Promise<BatchResult>
}

/**
 * Runs operations atomically in one transaction. All are parsed and validated before the first write, and
 * their errors are reported together.
 * @throws FORBIDDEN, VALIDATION_ERROR, NOT_FOUND or CONFLICT of the first failed operation, with details
 * under its path
 */
export async function runBatch(scope: WriteScope, baseId: string, raw: unknown): Promise<BatchResult> {
  const { atOnce, run } = await planBatch(scope, baseId, raw)
  return (await atOnce?.()) ?? run()
}

async function planBatch(scope: WriteScope, baseId: string, raw: unknown): Promise<Planned> {
  requireBaseAccess(rightsOf(scope), baseId)
  const list = readList(raw)
  await requirePermissions(scope, baseId, list)
  const { operations, failures } = await readOperations(list, scope.limits)
  if (list.some(kindOfOperation)) return { run: () => runMixed(scope, baseId, operations, failures) }
  const data = operations.filter((operation): operation is DataOperation => !isConfiguration(operation))
  checkByteBudget(scope.limits.batchBytes, data.filter(isOfRecord))
  const { types } = refuseFaults(await prepare(scope, baseId, data), failures)
  const warnings = await misspeltIn(scope, data, types)
  const upserts = plainUpserts(scope, data, types)
  const run = async (within: WriteScope, budget: ByteBudget) => {
    const outcomes = new Map<number, Outcome>()
    await runData(within, baseId, data, types, outcomes, budget)
    return { ...inOrder(outcomes), warnings }
  }
  return {
    ...(upserts && {
      atOnce: async () => {
        const done = await upserts()
        return done && { data: done, warnings }
      },
    }),
    run: () =>
      withinBudget(scope, (budget) => runPlanned(scope, (within) => run(within, budget()), 'statements')),
  }
}

/**
 * Runs batches one after another. While the database works on the one statement of a batch, the next is read and validated.
 * @throws as a batch does, before it gives the result of that batch
 */
export async function* runBatches(
  scope: WriteScope,
  baseId: string,
  batches: readonly unknown[],
): AsyncGenerator<BatchResult> {
  const plan = async (n: number) => (n < batches.length ? planBatch(scope, baseId, batches[n]) : null)
  let planned = await plan(0)
  for (let n = 1; planned; n++) {
    const { atOnce, run }: Planned = planned
    // Other ways to write use savepoints, in which nothing else is to be read. They wait for the next plan.
    const [done, next] = await Promise.allSettled([atOnce?.(), plan(n)])
    if (done.status === 'rejected') throw done.reason
    yield done.value ?? (await run())
    if (next.status === 'rejected') throw next.reason
    planned = next.value
  }
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

/** Warnings about misspelt properties of the operations. The same warning is given once. */
async function misspeltIn(
  scope: WriteScope,
  operations: readonly DataOperation[],
  types: Types,
): Promise<string[]> {
  const found = new Map<string, number[]>()
  for (const operation of operations.filter(isOfRecord).slice(0, LIMITS.misspeltOperations)) {
    const type = types.get(operation.recordType)
    if (!type?.schema.misspelt || policyOn(scope, type.baseId, type.id)) continue
    if (turnIsOver()) await nextTurn()
    const sent = 'write' in operation ? (operation.sent ?? operation.write).data : mergedBy(operation)
    for (const warning of await warningsOf(scope, type, sent)) {
      const indexes = found.get(warning) ?? []
      indexes.push(operation.index)
      found.set(warning, indexes)
    }
  }
  const lines = [...found].map(([warning, indexes]) =>
    indexes.length === 1
      ? `Operation ${indexes[0]}: ${warning}`
      : `Operations ${rangesOf(indexes)}: ${warning}`,
  )
  return firstWarnings(lines)
}

const mergedBy = (operation: DataOperation): unknown =>
  'merge' in operation ? operation.merge.data : undefined

/** Runs one configuration operation in the caller's transaction. */
async function runConfiguration(
  scope: WriteScope,
  baseId: string,
  operation: ConfigurationOperation,
): Promise<Outcome> {
  const { index, type, id } = operation
  const done = await ofOperation(index, () =>
    run(scope, baseId, operation).catch((thrown) => {
      throw type.startsWith('upsert') ? belowBody(thrown) : thrown
    }),
  )
  return { index, type, id, ...done, record: null }
}

type Done = Pick<Outcome, 'operation' | 'version' | 'warnings'>

async function run(scope: WriteScope, baseId: string, operation: ConfigurationOperation): Promise<Done> {
  const { kind, id, expected } = operation
  const target = { kind, scope, baseId, id }
  if ('input' in operation)
    return doneBy(await put(target, operation.input, { ...operation.repair, expected }))
  if ('merge' in operation)
    return doneBy(await define(target, operation.merge, { ...operation.repair, expected }))
  const { version } = await remove(target, { confirm: operation.confirm, expected })
  return { operation: 'deleted', version }
}

const doneBy = ({ operation = 'unchanged', version, warnings }: View): Done => ({
  operation,
  version,
  ...(warnings?.length && { warnings }),
})

/** Moves error paths from the REST body to `body` of the operation. */
function belowBody(thrown: unknown): unknown {
  const isOwn = (path: string) => path === '' || /^\/(id|confirm)$/.test(path)
  return withPaths(thrown, (path) => (isOwn(path) ? path : `/body${path}`))
}
