/** Locks the records of types whose schema or indexes change, until the transaction ends. */
import type { DomainError } from '../../../foundation/errors.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { FLAG } from '../../data/ledger/set-state.ts'
import type { Db } from '../../storage/database/client.ts'
import type { LockResult } from '../lifecycle/kind.ts'
import { lockTypes } from '../lifecycle/lock.ts'
import { noteSince, openPrecheck, type Precheck } from './precheck-records.ts'

/** A type whose writers wait. `precheck`: only what has been written since remains to be checked. */
export type TypeToLock = {
  readonly id: string
  readonly jsonSchema: object
  readonly precheck: Precheck | undefined
}

/**
 * Blocks writes of records until the transaction ends. Checks what has been written since the prechecks, and
 * stores what they found.
 */
export async function lockRecords(
  scope: WriteScope,
  baseId: string,
  toLock: readonly TypeToLock[],
): Promise<LockResult> {
  await lockTypes(
    scope.db,
    'record_type',
    baseId,
    toLock.map(({ id }) => id),
  )
  const prechecked = toLock.flatMap(({ precheck, ...type }) =>
    precheck ? [{ type, precheck, ...openPrecheck({ ...type, steps: [] }, precheck.flags, Infinity) }] : [],
  )
  if (prechecked.length > 0) {
    const since = Math.min(...prechecked.map(({ precheck }) => precheck.since))
    await noteSince(scope, baseId, since, prechecked)
  }
  const faults = new Map<string, DomainError>()
  const flags: Flag[] = []
  for (const { type, fault, flags: found } of prechecked) {
    const refused = fault()
    if (refused) faults.set(type.id, refused)
    else for (const [id, isValid] of found) flags.push({ recordType: type.id, id, isValid })
  }
  await flagRecords(scope.db, baseId, flags)
  return { settled: new Set(prechecked.map(({ type }) => type.id)), faults }
}

/** Whether the schema of its type accepts a record. */
type Flag = { readonly recordType: string; readonly id: string; readonly isValid: boolean }

/** Stores which records their schemas accept. */
export async function flagRecords(db: Db, baseId: string, flags: readonly Flag[]): Promise<void> {
  if (flags.length === 0) return
  await db.query(FLAG, [
    baseId,
    flags.map(({ recordType }) => recordType),
    flags.map(({ id }) => id),
    flags.map(({ isValid }) => isValid),
  ])
}
