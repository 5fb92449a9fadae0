import { oneFault } from '../../../foundation/errors.ts'
import { requireBase } from '../../core/existing-base.ts'
import { authorize } from '../../core/row-policy/apply.ts'
import { authorship } from '../../core/scope.ts'
import { checkVersion, type Expectation } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { DELETE_LINKS } from '../../data/ledger/relationship-statements.ts'
import { statement } from '../../storage/database/client.ts'
import { tooManyWriters } from '../../storage/database/retry-races.ts'
import { checkEnds, isLinkWithin, type LinkEnds } from './ends.ts'
import { requireLinkRow } from './list.ts'

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
  'find_links_between',
  `SELECT i.n::int AS n, l.id
   FROM unnest((SELECT $2::text[]), (SELECT $3::text[]), (SELECT $4::text[]), (SELECT $5::text[]), (SELECT $6::text[]))
     WITH ORDINALITY AS i (rel_type, source_type, source_id, target_type, target_id, n)
   CROSS JOIN LATERAL (
     SELECT row_no FROM plinth.record s
     WHERE s.base_id = $1 AND s.record_type = i.source_type COLLATE "C" AND s.id = i.source_id COLLATE "C" LIMIT 1) s
   CROSS JOIN LATERAL (
     SELECT row_no FROM plinth.record t
     WHERE t.base_id = $1 AND t.record_type = i.target_type COLLATE "C" AND t.id = i.target_id COLLATE "C" LIMIT 1) t
   CROSS JOIN LATERAL (
     SELECT id FROM plinth.relationship l
     WHERE l.source_row = s.row_no AND l.rel_type = i.rel_type COLLATE "C" AND l.target_row = t.row_no LIMIT 1) l`,
)

/** The ids of the links with these types and ends, in order; null for one that does not exist. */
export async function findLinksBetween(
  scope: WriteScope,
  baseId: string,
  links: readonly LinkEnds[],
): Promise<(string | null)[]> {
  if (links.length === 0) return []
  const rows = await scope.db.query<{ n: number; id: string }>(FIND_BETWEEN, [
    baseId,
    links.map(({ relType }) => relType),
    links.map(({ sourceRecordType }) => sourceRecordType),
    links.map(({ sourceId }) => sourceId),
    links.map(({ targetRecordType }) => targetRecordType),
    links.map(({ targetId }) => targetId),
  ])
  const ids = new Map(rows.map(({ n, id }) => [n, id]))
  return links.map((_, index) => ids.get(index + 1) ?? null)
}

/**
 * Deletes the link of a type between two records.
 * @throws FORBIDDEN without `write` on both ends; NOT_FOUND
 */
export async function deleteLinkBetween(
  scope: WriteScope,
  baseId: string,
  ends: LinkEnds,
  expected: Expectation,
): Promise<{ id: string; deleted: boolean }> {
  const { relType, sourceRecordType, sourceId, targetRecordType, targetId } = ends
  for (const type of [sourceRecordType, targetRecordType]) authorize(scope, 'write', baseId, type)
  checkEnds(ends)
  const [id = null] = await findLinksBetween(scope, baseId, [ends])
  const named = {
    source_record_type: sourceRecordType,
    source_id: sourceId,
    target_record_type: targetRecordType,
    target_id: targetId,
  }
  if (id !== null && (await isLinkWithin(scope, baseId, named)))
    return deleteRelationship(scope, baseId, id, expected)
  await requireBase(scope, baseId)
  throw notLinked(relType)
}

/** Error for ends that are not linked. */
export const notLinked = (relType: string) =>
  oneFault(
    'NOT_FOUND',
    `The records have no relationship of type "${relType.slice(0, 64)}" in this direction.`,
    {
      path: '/rel_type',
      code: 'relationship_not_found',
      message: 'Check rel_type, and which record is the source.',
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
