/** Put, patch and delete of configuration, generic over its kinds. */
import { camelFields } from '../../../contract/field-names.ts'
import { mergePatch } from '../../../json/merge-patch.ts'
import type { Expectation } from '../../core/write/preconditions.ts'
import { runPlanned } from '../../core/write/run-planned.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { type Changed, changeOne } from './change.ts'
import { readFields } from './fields.ts'
import { openIdentityMap } from './identity-map.ts'
import { type Kind, migrates, type PutOptions, type ResourceAddress, type Stored, type View } from './kind.ts'
import { lockConfiguration } from './lock.ts'
import { type Patch, readPatch } from './patch.ts'
import { requireManage } from './read.ts'
import { removeOne } from './remove.ts'

type Writing<F extends object, R extends Stored> = ResourceAddress<F, R, WriteScope>

/**
 * Creates or replaces the resource. Omitted fields get their defaults.
 * @throws CONFLICT; VALIDATION_ERROR
 */
export async function put<F extends object, R extends Stored>(
  address: Writing<F, R>,
  input: object,
  options: PutOptions,
): Promise<View<F>> {
  requireManage(address)
  const { kind } = address
  // Validate before taking the lock, so that malformed requests do not wait.
  const next = readFields(address, input, null)
  return change(address, options, (before) => {
    const sent = before && kind.sent ? kind.sent(input, { ...before, ...next }, options) : input
    return { input: sent, next: sent === input ? next : readFields(address, sent, null) }
  })
}

/**
 * Changes the stored resource by a patch.
 * @throws as put; NOT_FOUND
 */
export async function patch<F extends object, R extends Stored>(
  address: Writing<F, R>,
  patch: Patch,
  options: PutOptions,
): Promise<View<F>> {
  requireManage(address)
  const { kind } = address
  const { changesOf, states } = readPatch(kind, patch)
  return change(address, options, async (before) => {
    if (!before) return null
    const sent = await changesOf(before)
    const input = kind.sent?.(sent, before, options, states) ?? sent
    return { input, next: readFields(address, input, before) }
  })
}

/**
 * Merges the fields, in the names of the wire, into the stored resource, or creates it of them.
 * @throws as put
 */
export async function define<F extends object, R extends Stored>(
  address: Writing<F, R>,
  merge: object,
  options: PutOptions,
): Promise<View<F>> {
  requireManage(address)
  const { kind } = address
  const { changesOf, states } = readPatch(kind, { merge })
  return change(address, options, async (before) => {
    // A migration is of records that exist: its id is wrong.
    if (!before && migrates(options)) return null
    const sent = before ? await changesOf(before) : camelFields(mergePatch({}, merge) as object)
    const input = (before && kind.sent?.(sent, before, options, states)) ?? sent
    return { input, next: readFields(address, input, before) }
  })
}

async function change<F extends object, R extends Stored>(
  address: Writing<F, R>,
  options: PutOptions,
  changed: Changed<F>,
): Promise<View<F>> {
  const { scope, baseId } = address
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    await lock(address.kind, within, baseId)
    return changeOne(openIdentityMap(within, baseId), address.kind, { id: address.id, options, changed })
  })
}

const lock = <F extends object, R extends Stored>(kind: Kind<F, R>, within: WriteScope, baseId: string) =>
  kind.lock ? kind.lock(within, baseId) : lockConfiguration(within, baseId)

/**
 * Deletes the resource and its dependents.
 * @throws NOT_FOUND; CONFLICT while other resources need it
 */
export async function remove<F extends object, R extends Stored>(
  address: Writing<F, R>,
  { confirm = null, expected }: { confirm?: string | null; expected: Expectation },
): Promise<{ id: string; deleted: boolean; version: number }> {
  requireManage(address)
  const { scope, baseId } = address
  return runPlanned(scope, async (within, checkPlan) => {
    await lock(address.kind, within, baseId)
    const decides = address.kind.takesConfirm && { leavesReferences: confirm === address.id }
    const options = { confirm, ...decides, checkPlan, expected }
    return removeOne(openIdentityMap(within, baseId), address.kind, { id: address.id, options })
  })
}
