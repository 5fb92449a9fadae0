import { DomainError, oneFault } from '../../foundation/errors.ts'
import { NO_EXPECTATION } from '../core/write/preconditions.ts'
import type { WriteScope } from '../core/write/write.ts'
import type { Change } from '../log/entry.ts'
import {
  deleteRelationship,
  type LinkWrite,
  type RelationshipRow,
  readLink,
  writeLinks,
} from '../records/relationships/index.ts'
import { requirePermission } from '../storage/access/access.ts'
import { statement } from '../storage/database/client.ts'

const LOCK = statement(
  'lock_link_to_revert',
  'SELECT external_id FROM plinth.relationship WHERE base_id = $1 AND id = $2 FOR UPDATE',
)
const BEFORE = statement(
  'link_before',
  `SELECT data FROM plinth.change
   WHERE kind = 'relationship' AND base_id = $1 AND id = $2 AND version < $3 ORDER BY version DESC LIMIT 1`,
)

/** A link as its log entries hold it. */
export type LinkState = Omit<RelationshipRow, 'id' | 'version' | 'valid' | 'created_at' | 'updated_at'>

/** Restores the link to the state before the change. Calls `requireLastChange` under the lock. */
export async function revertRelationship(
  scope: WriteScope,
  baseId: string,
  { id, operation, version, needs }: Change,
  requireLastChange: () => Promise<void>,
): Promise<void> {
  for (const end of needs) requirePermission(scope.access, 'write', baseId, end)
  const [current] = await scope.db.query<{ external_id: string | null }>(LOCK, [baseId, id])
  await requireLastChange()
  if (operation === 'create')
    return current && void (await deleteRelationship(scope, baseId, id, NO_EXPECTATION))
  // The entry of a deletion contains the deleted data.
  const upTo = operation === 'delete' ? version + 1 : version
  const [before] = await scope.db.query<{ data: LinkState | null }>(BEFORE, [baseId, id, upTo])
  if (!before?.data) throw versionPurged()
  const state = before.data
  if (current && current.external_id !== null && state.external_id === null) throw keepsPair()
  const [outcome] = await writeLinks(scope, baseId, [formerLink(id, state, current === undefined)])
  if (outcome instanceof DomainError) throw outcome
}

/** Writes a link as it was, and never another one that its ends have now. One that `isGone` must still be so. */
export const formerLink = (id: string, state: LinkState, isGone: boolean): LinkWrite => ({
  ...readLink(id, {
    relType: state.rel_type,
    sourceRecordType: state.source_record_type,
    sourceId: state.source_id,
    targetRecordType: state.target_record_type,
    targetId: state.target_id,
    data: state.data,
    externalId: state.external_id,
    externalSource: state.external_source,
  }),
  moves: true,
  ...(isGone && { expected: { ...NO_EXPECTATION, absent: true } }),
})

const versionPurged = () =>
  oneFault('NOT_FOUND', 'The state of the relationship before that change has been purged.', {
    path: '/seq',
    code: 'history_purged',
    message: 'The base keeps its history for some days only ("history_days").',
  })

const keepsPair = () =>
  oneFault('CONFLICT', 'That change set the external_id of the relationship, which cannot be removed.', {
    path: '/seq',
    code: 'cannot_clear',
    message:
      'external_id and external_source can be changed but not removed. Delete the relationship and create it again.',
  })
