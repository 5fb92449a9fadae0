import { oneFault } from '../../foundation/errors.ts'
import { refreshType } from '../configuration/record-types/index.ts'
import { NO_EXPECTATION } from '../core/write/preconditions.ts'
import type { WriteScope } from '../core/write/write.ts'
import { LOCK_WHOLE } from '../data/ledger/read-statements.ts'
import type { Change } from '../log/entry.ts'
import { deleteRecord } from '../records/delete.ts'
import { undelete } from '../records/undelete.ts'
import { pairTaken } from '../records/upsert.ts'
import type { CompiledType } from '../schema/compiled-types/compiled-type.ts'
import { requirePermission } from '../storage/access/access.ts'
import { statement } from '../storage/database/client.ts'
import { violatedConstraint } from '../storage/database/errors.ts'
import { lostRace } from '../storage/database/retry-races.ts'
import { setBack } from './undo/record-steps.ts'

type RecordKey = readonly [baseId: string, recordType: string, id: string]

/** The record before version `$4`: the version with its data, and the data. */
const BEFORE = statement(
  'state_before',
  `SELECT version, operation = 'delete' AS is_gone, data, external_source, external_id, EXISTS (
     SELECT FROM plinth.record r WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = $3
       AND (r.data, r.external_source, r.external_id, r.cancelled_at IS NULL)
         IS NOT DISTINCT FROM (c.data, c.external_source, c.external_id, c.cancelled_at IS NULL)) AS is_current
   FROM plinth.change c
   WHERE kind = 'record' AND base_id = $1 AND record_type = $2 AND id = $3 AND version < $4 ORDER BY version DESC LIMIT 1`,
)
type Before = {
  version: number
  is_gone: boolean
  /** Whether the record has this state. */
  is_current: boolean
  data: unknown
  external_source: string | null
  external_id: string | null
}

/**
 * Restores the record to the state before the change: deletes, undeletes or updates it. Calls `requireLastChange`
 * under the lock.
 */
export async function revertRecord(
  scope: WriteScope,
  baseId: string,
  change: Change,
  requireLastChange: () => Promise<void>,
): Promise<void> {
  const { recordType, id, operation, version } = change
  const target: RecordKey = [baseId, recordType ?? '', id]
  requirePermission(scope.access, 'write', target[0], target[1])
  const type = await refreshType(scope, target[0], target[1])
  const [current] = await scope.db.query(LOCK_WHOLE, [...target])
  await requireLastChange()
  // The entry of a deletion contains the deleted data.
  const upTo = operation === 'delete' ? version + 1 : version
  const [before] = operation === 'create' ? [] : await scope.db.query<Before>(BEFORE, [...target, upTo])
  if (operation !== 'create' && !before) throw versionPurged(version)
  const isAway = !before || (before.is_gone && operation !== 'delete')
  if (isAway) {
    if (current) await deleteRecord(scope, target, NO_EXPECTATION)
  } else if (current) {
    if (!before.is_current) await setBackTo(scope, type, change, before)
  } else if (!(await undelete(scope, type, target, NO_EXPECTATION, before.version)))
    throw lostRace('the record is there again')
}

async function setBackTo(
  scope: WriteScope,
  type: CompiledType,
  change: Change,
  before: Before,
): Promise<void> {
  if (before.data === null) throw versionPurged(before.version)
  const act = { kind: 'update', version: before.version } as const
  try {
    await setBack({ scope }, type, [{ change: { ...change, ends: [] }, act, movesPair: true }])
  } catch (thrown) {
    if (violatedConstraint(thrown) !== 'record_external') throw thrown
    throw pairTaken(scope, {
      externalId: before.external_id ?? '',
      externalSource: before.external_source ?? 'default',
    })
  }
}

export const versionPurged = (version: number) =>
  oneFault('NOT_FOUND', 'The state before that change has been purged.', {
    path: '/seq',
    code: 'history_purged',
    message: `The base keeps its history for some days only ("history_days"), and nothing from before version ${version} is left.`,
  })
