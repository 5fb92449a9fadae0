import { DomainError } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { relationshipTypesOf } from '../../configuration/relationship-types/index.ts'
import { policyOn } from '../../core/row-policy/apply.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { keepClaim } from '../claims/claim-guard.ts'
import { boundedOutcomes } from './apply-policy.ts'
import { type ByteBudget, reserveBytes } from './byte-budget.ts'
import { collect, firstOf, refuse } from './faults.ts'
import { assertDefined, lockAll } from './lock-all.ts'
import type { LockedRecords } from './locked-records.ts'
import { hasOwnLinks, writeOwnLinks } from './nested-links.ts'
import { type DataOperation, type Failure, type Id, isOfRecord, type RecordOperation } from './operation.ts'
import type { Outcome } from './outcome.ts'
import type { Types } from './prepare.ts'
import { type Decided, decide, type Known, type Of } from './resolve-operation.ts'
import { planWaves, samesOf, touchesOf } from './schedule.ts'
import { removeLinks, upsertLinks } from './write-links.ts'
import { removeRecords, writeRecords } from './write-records.ts'

type Run = {
  scope: WriteScope
  baseId: string
  types: Types
  locked: LockedRecords
  /** Resolves an id, including references. */
  idOf: (id: Id) => string
  /** Errors of all levels. */
  failures: Failure[]
  budget: ByteBudget
}

/**
 * Runs validated operations level by level in the caller's transaction, and adds their results to `outcomes`.
 */
export async function runData(
  scope: WriteScope,
  baseId: string,
  operations: readonly DataOperation[],
  types: Types,
  outcomes: Map<number, Outcome>,
  budget: ByteBudget,
): Promise<void> {
  const locked = await lockAll(scope, baseId, operations.filter(isOfRecord), types)
  const idOf = (id: Id) => (typeof id === 'string' ? id : assertDefined(outcomes.get(id.ref)).id)
  const hasLinks = (await relationshipTypesOf(scope, baseId)).size > 0
  const failures: Failure[] = []
  const touches = operations.map((operation) => touchesOf(operation, hasLinks))
  for (const wave of planWaves(touches, samesOf(locked))) {
    // After a failure, only earlier operations continue, so that the reported error is the first in batch
    // order.
    const due = wave
      .map((position) => assertDefined(operations[position]))
      .filter(({ index }) => index < firstOf(failures))
    for (const outcome of await runWave({ scope, baseId, types, locked, idOf, failures, budget }, due))
      outcomes.set(outcome.index, outcome)
  }
  refuse(failures)
}

/** Runs one dependency level: one statement per operation kind and type. */
async function runWave(run: Run, wave: readonly DataOperation[]): Promise<Outcome[]> {
  const { scope, baseId, types, locked, idOf, failures } = run
  const before = await decideAll(run, wave.filter(isOfRecord))
  reserveBytes(run.budget, before)
  const decided = before.filter(({ operation }) => operation.index < firstOf(failures))
  const operations = wave.filter(({ index }) => index < firstOf(failures))
  const outcomes: Outcome[] = []
  const deletions = decided.filter((each): each is Decided<Of<'delete'>> => each.decision.kind === 'delete')
  // A delete releases the record's claim, so claims are checked before it, under the batch locks.
  await keepClaims(run, deletions, ({ decision }) => decision.row)
  const ending = deletions.filter(({ operation }) => operation.index < firstOf(failures))
  if (ending.length > 0) outcomes.push(...(await removeRecords(scope, baseId, ending, locked)))
  const staying = decided.filter((each): each is Staying => each.decision.kind !== 'delete')
  for (const [recordType, ofType] of byType(staying)) {
    const type = assertDefined(types.get(recordType))
    const written = await writeRecords(scope, type, ofType, locked)
    outcomes.push(...(await boundedOutcomes(scope, type, written, locked)))
  }
  const written = new Map(outcomes.map((outcome) => [outcome.index, outcome]))
  const outcomeOf = (index: number) => assertDefined(written.get(index))
  await keepClaims(run, staying, ({ operation }) => outcomeOf(operation.index))
  const kept = new Set(staying.flatMap((each) => (each.decision.kind === 'keep' ? each.operation : [])))
  const linking = operations.filter(hasOwnLinks).filter((operation) => !kept.has(operation))
  if (linking.length > 0) {
    await writeOwnLinks(scope, baseId, linking, { idOf, outcomeOf }, failures)
  }
  const upserts = operations.filter((operation) => operation.type === 'upsert_relationship')
  if (upserts.length > 0) outcomes.push(...(await upsertLinks(scope, baseId, upserts, idOf, failures)))
  const removals = operations.filter((operation) => operation.type === 'delete_relationship')
  if (removals.length > 0) outcomes.push(...(await removeLinks(scope, baseId, removals, idOf, failures)))
  return outcomes
}

type Staying = Decided<Of<'create' | 'update' | 'cancel' | 'keep'>>

const byType = (decided: readonly Staying[]): [string, Staying[]][] =>
  [...Map.groupBy(decided, ({ operation }) => operation.recordType)].sort(([a], [b]) => (a < b ? -1 : 1))

/** Checks the claims that operations name against the locked records; collects errors in `failures`. */
async function keepClaims<D extends Decided>(
  { scope, baseId, failures }: Run,
  decided: readonly D[],
  recordOf: (each: D) => { readonly id: string; readonly version: number },
): Promise<void> {
  for (const each of decided) {
    const { operation } = each
    const claim = 'expected' in operation ? operation.expected.claim : null
    if (claim === null) continue
    const { index, recordType } = operation
    const { id, version } = recordOf(each)
    const fault: unknown = await keepClaim(scope, baseId, claim, { id, recordType, version }).catch(
      (thrown: unknown) => thrown,
    )
    if (fault instanceof DomainError) failures.push({ index, error: fault })
    else if (fault) throw fault
  }
}

/** Plans the operations of a level; collects errors in `failures`. */
async function decideAll(
  { scope, baseId, types, locked, idOf, failures }: Run,
  operations: readonly RecordOperation[],
): Promise<readonly Decided[]> {
  const { recordBytes } = scope.limits
  const known = new Map<string, Known>()
  const knownOf = (recordType: string): Known => {
    const before = known.get(recordType)
    if (before) return before
    const type = assertDefined(types.get(recordType))
    const opened = { scope, locked, type, policy: policyOn(scope, baseId, recordType), recordBytes, idOf }
    known.set(recordType, opened)
    return opened
  }
  const decided: Decided[] = []
  for (const operation of operations) {
    if (turnIsOver()) await nextTurn()
    const decision = collect(failures, operation.index, () =>
      decide(operation, knownOf(operation.recordType)),
    )
    if (decision) decided.push({ operation, decision })
  }
  return decided
}
