/** Reverts one change of configuration, under the checks of a PUT or DELETE. */
import type { Change } from '../change-log/entry.ts'
import { put, remove } from '../configuration/lifecycle/index.ts'
import type { Kind } from '../configuration/lifecycle/kind.ts'
import { lockConfiguration } from '../configuration/lifecycle/lock.ts'
import { requireManage } from '../configuration/lifecycle/read.ts'
import { renamesBack } from '../configuration/record-types/index.ts'
import { statement } from '../database/client.ts'
import { NO_EXPECTATION } from '../write/preconditions.ts'
import type { WriteScope } from '../write/write.ts'
import { versionPurged } from './revert-record.ts'

/** The state before a change. A deletion's entry contains it. */
const STATE_BEFORE = statement(
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

/**
 * Restores the state before the change. Properties of records that were renamed since get their former names
 * again. Calls `requireLastChange` under the lock.
 */
export async function revertConfiguration(
  scope: WriteScope,
  kind: Kind,
  baseId: string,
  { id, operation, version, seq }: Pick<Change, 'id' | 'operation' | 'version' | 'seq'>,
  requireLastChange: () => Promise<void>,
  { onInvalid, confirm, causes = new Map() }: RevertOptions,
): Promise<void> {
  const target = { kind, scope, baseId, id }
  requireManage(target)
  await lockConfiguration(scope, baseId)
  await requireLastChange()
  const expected = NO_EXPECTATION
  if (operation === 'create') return void (await remove(target, { confirm, expected }))
  const [before] = await scope.db.query<{ data: object | null }>(STATE_BEFORE, [baseId, kind.name, id, seq])
  if (!before?.data) throw versionPurged(version)
  const migrations =
    kind.name === 'record_type'
      ? await scope.db.query<{ migration: unknown }>(MIGRATIONS_SINCE, [baseId, id, seq])
      : []
  const steps = migrations.flatMap(({ migration }) => renamesBack(migration))
  const migrationBack = { steps, causes }
  await put(target, before.data, { expected, onInvalid, ...(steps.length > 0 && { migrationBack }) })
}
