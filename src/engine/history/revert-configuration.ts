/** Reverts changes of configuration, under the checks of a PUT or DELETE. */

import { KINDS } from '../configuration/kinds.ts'
import { changeAll } from '../configuration/lifecycle/change.ts'
import { readFields } from '../configuration/lifecycle/fields.ts'
import { openIdentityMap } from '../configuration/lifecycle/identity-map.ts'
import { put, remove } from '../configuration/lifecycle/index.ts'
import type { Kind, PutOptions } from '../configuration/lifecycle/kind.ts'
import { lockConfiguration } from '../configuration/lifecycle/lock.ts'
import { requireManage } from '../configuration/lifecycle/read.ts'
import { removeOne } from '../configuration/lifecycle/remove.ts'
import { renamesBack } from '../configuration/record-types/index.ts'
import { NO_EXPECTATION } from '../core/write/preconditions.ts'
import type { WriteScope } from '../core/write/write.ts'
import type { Change } from '../log/entry.ts'
import { statement } from '../storage/database/client.ts'
import { versionPurged } from './revert-record.ts'

/** The state before a change. A deletion's entry contains it. */
const PREVIOUS_STATE = statement(
  'configuration_before',
  `SELECT data FROM plinth.change
   WHERE kind NOT IN ('record', 'relationship') AND base_id = $1 AND kind = $2 AND id = $3 AND seq <= $4
     AND (seq < $4 OR operation = 'delete')
   ORDER BY seq DESC LIMIT 1`,
)

/** The migrations of a type's records since a change, the newest first. */
const MIGRATIONS_SINCE = statement(
  'migrations_since',
  `SELECT data -> 'migration' AS migration FROM plinth.change
   WHERE kind NOT IN ('record', 'relationship') AND base_id = $1 AND kind = 'record_type' AND id = $2 AND seq >= $3
     AND data ? 'migration'
   ORDER BY change.seq DESC`,
)

/** Options that a PUT or DELETE would require. */
export type RevertOptions = {
  onInvalid: 'refuse' | 'allow'
  confirm: string | null
  /** By the ids of records: their changes that the revert of a migration reverts. */
  causes?: ReadonlyMap<string, number>
}

type Reverted = Pick<Change, 'id' | 'operation' | 'version' | 'seq'>

/**
 * Restores the state before the change. Properties of records that were renamed since get their former names
 * again. Calls `requireLastChange` under the lock.
 */
export async function revertConfiguration(
  scope: WriteScope,
  kind: Kind,
  baseId: string,
  change: Reverted,
  requireLastChange: () => Promise<void>,
  { confirm, ...how }: RevertOptions,
): Promise<void> {
  const target = { kind, scope, baseId, id: change.id }
  requireManage(target)
  await lockConfiguration(scope, baseId)
  await requireLastChange()
  const former = await formerState(scope, kind, baseId, change, how)
  if (former) await put(target, former.fields, former.options)
  else await remove(target, { confirm, expected: NO_EXPECTATION })
}

/** A change among others that are reverted together. */
export type RevertedTogether = {
  readonly kind: Kind
  readonly change: Reverted
  readonly causes: ReadonlyMap<string, number>
  /** Runs the work for this change, and says of its failure that it is this one's. */
  run(work: () => Promise<unknown>): Promise<void>
}

/**
 * Restores the states before changes of different resources, in a transaction that has the configuration of the base
 * locked: what is referred to is written first and deleted last, and what depends on others is checked when all is
 * written. So a tool can go back from a toolset to its endpoint.
 */
export async function revertTogether(
  scope: WriteScope,
  baseId: string,
  changes: readonly RevertedTogether[],
): Promise<void> {
  const loaded = openIdentityMap(scope, baseId)
  const checks: (() => Promise<void>)[] = []
  const byKind = KINDS.map((kind) => changes.filter((each) => each.kind === kind))
  for (const { kind, change, causes, run } of byKind.flat())
    await run(async () => {
      const target = { kind, scope, baseId, id: change.id }
      requireManage(target)
      const former = await formerState(scope, kind, baseId, change, { onInvalid: 'refuse', causes })
      if (!former) return
      const { fields: input, options } = former
      const next = readFields(target, input, null)
      const changed = () => ({ input, next })
      const { checkDependents } = await changeAll(loaded, kind, [{ id: change.id, options, changed }])
      checks.push(() => run(checkDependents))
    })
  const options = { confirm: null, checkPlan: () => {}, expected: NO_EXPECTATION }
  for (const { kind, change, run } of byKind.reverse().flat())
    if (change.operation === 'create') await run(() => removeOne(loaded, kind, { id: change.id, options }))
  for (const check of checks) await check()
}

/** The fields before a change, and the options that store them; null where there was nothing. */
async function formerState(
  scope: WriteScope,
  kind: Kind,
  baseId: string,
  { id, operation, version, seq }: Reverted,
  { onInvalid, causes = new Map() }: Omit<RevertOptions, 'confirm'>,
): Promise<{ fields: object; options: PutOptions } | null> {
  if (operation === 'create') return null
  const [before] = await scope.db.query<{ data: object | null }>(PREVIOUS_STATE, [baseId, kind.name, id, seq])
  if (!before?.data) throw versionPurged(version)
  const migrations =
    kind.name === 'record_type'
      ? await scope.db.query<{ migration: unknown }>(MIGRATIONS_SINCE, [baseId, id, seq])
      : []
  const steps = migrations.flatMap(({ migration }) => renamesBack(migration))
  const migrationBack = { steps, causes }
  const options = { expected: NO_EXPECTATION, onInvalid, ...(steps.length > 0 && { migrationBack }) }
  return { fields: before.data, options }
}
