import { type Detail, DomainError, oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { type Access, namedTypes } from '../../storage/access/access.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import type { CascadedRecord } from './find-cascade.ts'

/** Restricting links: a count and samples of those the token may see, and whether there are others. */
type Standing = { seen: number; unseen: boolean; samples: object[] }

const RESTRICTING = `ARRAY(SELECT t.id FROM plinth.relationship_type t WHERE t.base_id = $1 AND t.on_delete = 'restrict')`
/**
 * Whether link `l` has types that the token may read. `types` is the parameter with these types; null for
 * all.
 */
export const seenBy = (types: string): string =>
  `(${types}::text[] IS NULL OR (l.source_record_type = ANY (${types}) AND l.target_record_type = ANY (${types})))`
const IS_SEEN = `${seenBy('$2')} AS is_seen`
const COUNTS = `(count(*) FILTER (WHERE is_seen))::int AS seen, bool_or(NOT is_seen) AS unseen,
     coalesce(jsonb_agg(jsonb_build_object('id', id, 'rel_type', rel_type, 'source_record_type', source_record_type,
       'source_id', source_id, 'target_record_type', target_record_type, 'target_id', target_id) ORDER BY id)
       FILTER (WHERE is_seen AND place <= ${LIMITS.samples}), '[]'::jsonb) AS samples`

// A link whose source is also deleted does not restrict: it is deleted with its source.
const STANDING = statement(
  'links_standing',
  `WITH going AS MATERIALIZED (
     SELECT * FROM unnest((SELECT $3::bigint[]), (SELECT $4::text[])) AS g (row_no, root)),
   standing AS MATERIALIZED (
     SELECT g.root, l.*, ${IS_SEEN} FROM going g CROSS JOIN LATERAL (
       SELECT l.id, l.rel_type, l.source_record_type, l.source_id, l.target_record_type, l.target_id, l.source_row
       FROM plinth.relationship l WHERE l.target_row = g.row_no AND l.rel_type = ANY (${RESTRICTING}) OFFSET 0) l
     WHERE NOT EXISTS (SELECT FROM going o WHERE o.row_no = l.source_row)),
   counted AS (SELECT *, row_number() OVER (PARTITION BY root, is_seen ORDER BY id) AS place FROM standing)
   SELECT root, ${COUNTS} FROM counted GROUP BY root`,
)

// Variant for the deletion of all records of type `$3` and of the records `$4`, by the relationship types `$5`.
const STANDING_AT_TYPE = statement(
  'links_standing_at_type',
  `WITH standing AS MATERIALIZED (
     SELECT l.*, ${IS_SEEN} FROM plinth.relationship l
     WHERE l.base_id = $1 AND l.rel_type = ANY ($5::text[]) AND l.source_record_type <> $3
       AND (l.target_record_type = $3 OR l.target_row = ANY ((SELECT $4::bigint[])::bigint[]))
       AND l.source_row <> ALL ((SELECT $4::bigint[])::bigint[])),
   counted AS (SELECT *, row_number() OVER (PARTITION BY is_seen ORDER BY id) AS place FROM standing)
   SELECT ${COUNTS} FROM counted HAVING count(*) > 0`,
)

/** The caller's rights: a link is visible when both of its types are readable. */
type Caller = { access: Access; baseId: string }

/**
 * ON DELETE RESTRICT: finds links whose type restricts the deletion of their target. `rootOf` maps each
 * deleted record to its root.
 * @returns the errors by root
 */
export async function findRestricting(
  tx: Db,
  { access, baseId }: Caller,
  rootOf: ReadonlyMap<string, string>,
): Promise<Map<string, DomainError>> {
  const rows = await tx.query<Standing & { root: string }>(STANDING, [
    baseId,
    namedTypes(access, 'read', baseId),
    [...rootOf.keys()],
    [...rootOf.values()],
  ])
  return new Map(rows.map((row) => [row.root, restricted(row)]))
}

/**
 * Variant for the deletion of a type with all its records, and `along` of other types.
 * @param relTypes relationship types that restrict deletions, and lead to one of these records
 * @throws CONFLICT
 */
export async function checkNoRestrict(
  tx: Db,
  { access, baseId }: Caller,
  recordType: string,
  along: readonly CascadedRecord[],
  relTypes: readonly string[],
): Promise<void> {
  if (relTypes.length === 0) return
  const rows = along.map(({ rowNo }) => rowNo)
  const values = [baseId, namedTypes(access, 'read', baseId), recordType, rows, relTypes]
  const [standing] = await tx.query<Standing>(STANDING_AT_TYPE, values)
  if (standing) throw restricted(standing)
}

/** Error for restricting links. Counts and names only those that the token may see. */
function restricted({ seen, samples, unseen }: Standing): DomainError {
  const details: Detail[] = []
  if (seen > 0)
    details.push({
      path: '/id',
      code: 'restricted',
      message:
        seen === 1
          ? 'One link restricts the deletion of its target. Delete the link or its source first.'
          : `${seen} links restrict the deletion of their targets. Delete the links or their sources first.`,
      count: seen,
      samples,
    })
  if (unseen)
    details.push({
      path: '/id',
      code: 'restricted_unseen',
      message:
        'A link that this token cannot see restricts the deletion. Ask someone with a grant on the whole base to delete that link first.',
    })
  const message = details.map((detail) => detail.message).join(' ')
  return new DomainError('CONFLICT', message, { details })
}

// Reads just enough to exceed the limit. A link between two deleted records is found from both ends.
const COUNT = statement(
  'count_links_going',
  `SELECT count(DISTINCT l.id)::int AS links FROM (
     SELECT l.id FROM unnest((SELECT $1::bigint[])) AS g (row_no) CROSS JOIN LATERAL (
       SELECT o.id FROM plinth.relationship o WHERE o.source_row = g.row_no
       UNION ALL SELECT i.id FROM plinth.relationship i WHERE i.target_row = g.row_no) l
     LIMIT ${2 * LIMITS.deletedLinks + 2}) l`,
)

/**
 * Limits the number of links that one transaction deletes. The records are locked.
 * @throws CONFLICT
 */
export async function limitLinks(tx: Db, cascaded: readonly CascadedRecord[]): Promise<void> {
  const [counted] = await tx.query<{ links: number }>(COUNT, [cascaded.map(({ rowNo }) => rowNo)])
  if ((counted?.links ?? 0) <= LIMITS.deletedLinks) return
  throw oneFault('CONFLICT', `The deletion would delete more than ${LIMITS.deletedLinks} links.`, {
    path: '/id',
    code: 'too_many_links',
    message: `One deletion can delete at most ${LIMITS.deletedLinks} links. Delete links first: a batch deletes up to 1000, and deleting a relationship type deletes all its links.`,
    expected: LIMITS.deletedLinks,
  })
}
