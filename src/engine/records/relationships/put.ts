import { DomainError } from '../../../foundation/errors.ts'
import { relationshipTypesOf } from '../../configuration/relationship-types/index.ts'
import { requireBase } from '../../core/existing-base.ts'
import { authorize } from '../../core/row-policy/apply.ts'
import { type Expectation, NO_EXPECTATION } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { type PairInput, readPair } from '../../data/ledger/record.ts'
import type { Relationship } from '../../data/ledger/relationship.ts'
import { checkEnds, type LinkEnds } from './ends.ts'
import type { LinkWrite } from './link.ts'
import { writeLinks } from './write-links.ts'

/** A link as sent. `data` defaults to an empty object. */
export type RelationshipInput = LinkEnds &
  PairInput & { data?: unknown; replace?: boolean | null | undefined }

/**
 * Upserts the link of a type between two records. `id` applies to a new link; null for a server-generated id.
 * Replaces `data` whole.
 * @throws FORBIDDEN without `write` on both ends; NOT_FOUND without the base; VALIDATION_ERROR when the type
 * or an end is absent, or the ends of a link would change; CONFLICT by version, id, pair or cardinality
 */
export async function putRelationship(
  scope: WriteScope,
  baseId: string,
  id: string | null,
  input: RelationshipInput,
  expected: Expectation,
): Promise<Relationship> {
  const link = readLink(id, input)
  for (const { recordType } of [link.source, link.target]) authorize(scope, 'write', baseId, recordType)
  if ((await relationshipTypesOf(scope, baseId)).size === 0) await requireBase(scope, baseId)
  const put = async (within: WriteScope) => {
    const [outcome] = await writeLinks(within, baseId, [{ ...link, expected }])
    if (outcome === undefined || outcome instanceof DomainError) throw outcome
    return outcome
  }
  // Replaced links are deleted by a statement of their own.
  if (link.replace) return scope.db.transaction((tx) => put({ ...scope, db: tx }))
  return scope.db.retry(() => put(scope))
}

/**
 * Creates a link.
 * @throws CONFLICT when its id or its pair is taken, or the two records are already linked
 */
export const createRelationship = (
  scope: WriteScope,
  baseId: string,
  id: string | null,
  input: RelationshipInput,
): Promise<Relationship> => putRelationship(scope, baseId, id, input, { ...NO_EXPECTATION, absent: true })

/**
 * Converts the input to the engine's format.
 * @throws VALIDATION_ERROR for an invalid name
 */
export function readLink(id: string | null, input: RelationshipInput): LinkWrite {
  const { relType, sourceRecordType, sourceId, targetRecordType, targetId, data = {} } = input
  checkEnds(input)
  return {
    id,
    relType,
    source: { recordType: sourceRecordType, id: sourceId },
    target: { recordType: targetRecordType, id: targetId },
    data: data ?? {},
    pair: readPair(input),
    ...(input.replace && { replace: true }),
  }
}
