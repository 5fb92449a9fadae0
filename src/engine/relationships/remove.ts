import { DomainError } from '../../foundation/errors.ts'
import { requireBase } from '../configuration/bases/index.ts'
import { authorship } from '../core/scope.ts'
import { statement } from '../database/client.ts'
import { tooManyWriters } from '../database/errors.ts'
import { DELETE_LINKS } from '../record-store/relationship-statements.ts'
import { authorize } from '../row-policy/apply.ts'
import { checkVersion, type Expectation, NO_EXPECTATION } from '../write/preconditions.ts'
import type { WriteScope } from '../write/write.ts'
import { isLinkWithin } from './ends-within.ts'
import { requireLinkRow } from './list.ts'
import type { LinkEnds } from './put.ts'

/**
 * Deletes a link.
 * @throws as getRelationship; FORBIDDEN without `write` on both ends; CONFLICT by version
 */
export async function deleteRelationship(
  scope: WriteScope,
  baseId: string,
  id: string,
  expected: Expectation,
): Promise<{ id: string; deleted: boolean }> {
  for (let tries = 0; tries < 50; tries++) {
    const row = await requireLinkRow(scope, baseId, id)
    for (const recordType of [row.source_record_type, row.target_record_type])
      authorize(scope, 'write', baseId, recordType)
    checkVersion(expected, row.version, `relationship "${id}"`)
    const [gone] = await remove(scope, baseId, [id], row.version)
    if (gone) return { id, deleted: true }
  }
  throw tooManyWriters()
}

const FIND_BETWEEN = statement(
  'find_link_between',
  `SELECT l.id FROM plinth.record s
   CROSS JOIN LATERAL (SELECT row_no FROM plinth.record t WHERE t.base_id = $1 AND t.record_type = $5 AND t.id = $6 LIMIT 1) t
   CROSS JOIN LATERAL (
     SELECT id FROM plinth.relationship l WHERE l.source_row = s.row_no AND l.rel_type = $2 AND l.target_row = t.row_no LIMIT 1) l
   WHERE s.base_id = $1 AND s.record_type = $3 AND s.id = $4`,
)

/**
 * Deletes the link of a type between two records.
 * @throws FORBIDDEN without `write` on both ends; NOT_FOUND
 */
export async function deleteLinkBetween(
  scope: WriteScope,
  baseId: string,
  { relType, sourceRecordType, sourceId, targetRecordType, targetId }: LinkEnds,
): Promise<{ id: string; deleted: boolean }> {
  for (const type of [sourceRecordType, targetRecordType]) authorize(scope, 'write', baseId, type)
  const ends = [relType, sourceRecordType, sourceId, targetRecordType, targetId]
  const [link] = await scope.db.query<{ id: string }>(FIND_BETWEEN, [baseId, ...ends])
  const named = {
    source_record_type: sourceRecordType,
    source_id: sourceId,
    target_record_type: targetRecordType,
    target_id: targetId,
  }
  if (link && (await isLinkWithin(scope, baseId, named)))
    return deleteRelationship(scope, baseId, link.id, NO_EXPECTATION)
  await requireBase(scope, baseId)
  throw notLinked(relType)
}

const notLinked = (relType: string) =>
  new DomainError(
    'NOT_FOUND',
    `The records have no relationship of type "${relType.slice(0, 64)}" in this direction.`,
    {
      details: [
        {
          path: '/rel_type',
          code: 'relationship_not_found',
          message: 'Check rel_type, and which record is the source.',
        },
      ],
    },
  )

/**
 * Deletes links with log entries, without visibility checks: for cascades. Returns the existing ones, with
 * the version of their deletion.
 */
export const deleteLinks = (
  scope: WriteScope,
  baseId: string,
  ids: readonly string[],
): Promise<{ id: string; version: number }[]> => remove(scope, baseId, ids, null)

const remove = (scope: WriteScope, baseId: string, ids: readonly string[], version: number | null) =>
  scope.db.query<{ id: string; version: number }>(DELETE_LINKS, [
    baseId,
    [...ids],
    version,
    ...authorship(scope),
  ])
