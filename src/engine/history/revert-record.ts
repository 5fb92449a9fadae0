import { DomainError, invalid } from '../../foundation/errors.ts'
import { requirePermission } from '../access/access.ts'
import { type Change, RECORD_LOG_COLUMNS } from '../change-log/entry.ts'
import type { CompiledType } from '../compiled-types/compiled-type.ts'
import { refreshType } from '../configuration/record-types/index.ts'
import { authorship } from '../core/scope.ts'
import { statement } from '../database/client.ts'
import { violatedConstraint } from '../database/errors.ts'
import { tooManyWriters } from '../database/retry-races.ts'
import { guardUnique, variantFor, writeStatement } from '../indexes/index.ts'
import { deleteRecord } from '../records/delete.ts'
import { undelete } from '../records/undelete.ts'
import { pairTaken } from '../records/upsert.ts'
import { NO_EXPECTATION } from '../write/preconditions.ts'
import type { WriteScope } from '../write/write.ts'

type RecordKey = readonly [baseId: string, recordType: string, id: string]

// Lock the type before the record, in the lock order of all writers.
const LOCK = statement(
  'lock_record_to_revert',
  `WITH ty AS MATERIALIZED (SELECT 1 FROM plinth.record_type WHERE base_id = $1 AND id = $2 FOR KEY SHARE)
   SELECT r.data FROM plinth.record r
   WHERE EXISTS (SELECT FROM ty) AND r.base_id = $1 AND r.record_type = $2 AND r.id = $3 FOR UPDATE`,
)

/** The record before version `$4`: the version with its data, and the data. */
const BEFORE = statement(
  'state_before',
  `SELECT version, operation = 'delete' AS is_gone, data, external_source, external_id FROM plinth.change
   WHERE kind = 'record' AND base_id = $1 AND record_type = $2 AND id = $3 AND version < $4 ORDER BY version DESC LIMIT 1`,
)
type Before = {
  version: number
  is_gone: boolean
  data: unknown
  external_source: string | null
  external_id: string | null
}

/** Sets the locked record to the data, pair and status of version `$4`. Returns no row if nothing changes. */
const SET_BACK = writeStatement(
  'set_back_record',
  (entries) => `WITH w AS (
     UPDATE plinth.record r SET data = c.data, external_source = c.external_source, external_id = c.external_id,
       cancelled_at = c.cancelled_at, version = r.version + 1, updated_at = now(), valid = $5
     FROM plinth.change c
     WHERE c.kind = 'record' AND c.base_id = $1 AND c.record_type = $2 AND c.id = $3 AND c.version = $4
       AND r.base_id = $1 AND r.record_type = $2 AND r.id = $3
       AND (r.data, r.external_source, r.external_id, r.cancelled_at IS NULL)
         IS DISTINCT FROM (c.data, c.external_source, c.external_id, c.cancelled_at IS NULL)
     RETURNING r.*),
   before AS (SELECT cancelled_at FROM plinth.record WHERE base_id = $1 AND record_type = $2 AND id = $3),
   logged AS (
     INSERT INTO plinth.change (${RECORD_LOG_COLUMNS})
     SELECT $1, 'record', $2, w.id, CASE
         WHEN (w.cancelled_at IS NULL) = (before.cancelled_at IS NULL) THEN 'update'
         WHEN w.cancelled_at IS NULL THEN 'restore' ELSE 'cancel' END,
       w.version, w.data, w.external_source, w.external_id, w.cancelled_at, w.created_at, $6, $7, $8, $9, $10::jsonb FROM w, before)${entries}
   SELECT 1 AS one FROM w`,
)

/**
 * Restores the record to the state before the change: deletes, undeletes or updates it. Calls `requireLastChange`
 * under the lock.
 */
export async function revertRecord(
  scope: WriteScope,
  baseId: string,
  { recordType, id, operation, version }: Change,
  requireLastChange: () => Promise<void>,
): Promise<void> {
  const target: RecordKey = [baseId, recordType ?? '', id]
  requirePermission(scope.access, 'write', target[0], target[1])
  const type = await refreshType(scope, target[0], target[1])
  const [current] = await scope.db.query<{ data: unknown }>(LOCK, [...target])
  await requireLastChange()
  // The entry of a deletion contains the deleted data.
  const upTo = operation === 'delete' ? version + 1 : version
  const [before] = operation === 'create' ? [] : await scope.db.query<Before>(BEFORE, [...target, upTo])
  if (operation !== 'create' && !before) throw versionPurged(version)
  const isAway = !before || (before.is_gone && operation !== 'delete')
  if (isAway) return current && void (await deleteRecord(scope, target, NO_EXPECTATION))
  if (current) return setBack(scope, type, target, before, current.data)
  if (!(await undelete(scope, type, target, NO_EXPECTATION, before.version))) throw tooManyWriters()
}

async function setBack(
  scope: WriteScope,
  type: CompiledType,
  target: RecordKey,
  before: Before,
  data: unknown,
): Promise<void> {
  if (before.data === null) throw versionPurged(before.version)
  const [fault, ...more] = type.schema.validate(before.data, '/data', scope.checks)
  // A change of status keeps the data, so existing violations of the schema are acceptable.
  if (fault && JSON.stringify(data) !== JSON.stringify(before.data)) throw invalid(fault, ...more)
  const values = [...target, before.version, fault === undefined, ...authorship(scope)]
  try {
    await guardUnique(type, () => scope.db.query(variantFor(SET_BACK, type), values))
  } catch (thrown) {
    if (violatedConstraint(thrown) !== 'record_external') throw thrown
    throw pairTaken({
      externalId: before.external_id ?? '',
      externalSource: before.external_source ?? 'default',
    })
  }
}

export const versionPurged = (version: number) =>
  new DomainError('NOT_FOUND', 'The state before that change has been purged.', {
    details: [
      {
        path: '/seq',
        code: 'history_purged',
        message: `The base keeps its history for some days only ("history_days"), and nothing from before version ${version} is left.`,
      },
    ],
  })
