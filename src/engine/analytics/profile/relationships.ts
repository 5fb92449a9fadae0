import { readableRelationshipTypes } from '../../configuration/relationship-types/index.ts'
import type { Scope } from '../../core/scope.ts'
import { isAmong } from '../../schema/compiled-types/compiled-relationship-type.ts'
import { namedTypes } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'
import { PROFILE_LIMITS } from './profile-limits.ts'

/** Link statistics of a type for a relationship type in one direction. */
export type RelationshipProfile = {
  rel_type: string
  direction: 'outgoing' | 'incoming'
  /** The record types at the other end. */
  record_types: string[]
  /** Number of links, up to a limit. */
  count: number
  /** Set when the limit was reached. */
  capped?: true
}

// Counts visible links only, so that a capped count reveals nothing about other links.
const COUNT = statement(
  'profile_relationships',
  `SELECT k.n::int AS n, f.* FROM unnest($3::text[], $4::bool[]) WITH ORDINALITY AS k (rel_type, incoming, n), LATERAL (
     SELECT count(*)::int AS count, coalesce(array_agg(DISTINCT x.other), '{}') AS others FROM (
       SELECT CASE WHEN k.incoming THEN l.source_record_type ELSE l.target_record_type END AS other
       FROM plinth.relationship l
       WHERE l.base_id = $1 AND l.rel_type = k.rel_type COLLATE "C"
         AND CASE WHEN k.incoming THEN l.target_record_type ELSE l.source_record_type END = $2
         AND ($5::text[] IS NULL OR (l.source_record_type = ANY ($5::text[]) AND l.target_record_type = ANY ($5::text[])))
       LIMIT ${PROFILE_LIMITS.countedLinks + 1}) x) f
   ORDER BY k.n`,
)
type Counted = { n: number; count: number; others: string[] }

/** The relationship types of a record type whose two ends the token may read. */
export async function profileRelationships(
  scope: Scope,
  baseId: string,
  recordType: string,
): Promise<RelationshipProfile[]> {
  const types = [...(await readableRelationshipTypes(scope, baseId)).values()]
  const sides = types.flatMap((type) => [
    ...(isAmong(recordType, type.sourceRecordTypes)
      ? [{ type, direction: 'outgoing' as const, others: type.targetRecordTypes }]
      : []),
    ...(isAmong(recordType, type.targetRecordTypes)
      ? [{ type, direction: 'incoming' as const, others: type.sourceRecordTypes }]
      : []),
  ])
  if (sides.length === 0) return []
  const counted = await scope.db.query<Counted>(COUNT, [
    baseId,
    recordType,
    sides.map(({ type }) => type.id),
    sides.map(({ direction }) => direction === 'incoming'),
    namedTypes(scope.access, 'read', baseId),
  ])
  return counted.map(({ n, count, others: met }) => {
    const side = sides[n - 1]
    if (!side) throw new Error('a count of no relationship type')
    const named = side.others.filter((id) => scope.access.allows('read', baseId, id))
    return {
      rel_type: side.type.id,
      direction: side.direction,
      record_types: side.others.includes('*') ? met : named,
      count: Math.min(count, PROFILE_LIMITS.countedLinks),
      ...(count > PROFILE_LIMITS.countedLinks && { capped: true as const }),
    }
  })
}
