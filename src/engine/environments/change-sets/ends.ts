/** Links of production at the records that a merge deletes, and ends that its links have no more. */
import type { Detail } from '../../../foundation/errors.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { type Document, nameOf } from './drafts.ts'
import type { Merged, Resolutions } from './merge.ts'
import { isDeleted } from './operations.ts'

// Of the records `$3` of the types `$2`, the links beside `$4`.
const TAKEN_ALONG = statement(
  'links_of_drafted_deletions',
  `SELECT w.type, w.id, bool_or(l.is_target AND t.on_delete = 'restrict') AS is_restricted
   FROM unnest($2::text[], $3::text[]) AS w (type, id)
   JOIN plinth.record r ON r.base_id = $1 AND r.record_type = w.type AND r.id = w.id
   CROSS JOIN LATERAL (
     SELECT id, rel_type, false AS is_target FROM plinth.relationship WHERE source_row = r.row_no
     UNION ALL SELECT id, rel_type, true FROM plinth.relationship WHERE target_row = r.row_no) l
   JOIN plinth.relationship_type t ON t.base_id = $1 AND t.id = l.rel_type
   WHERE l.id NOT IN (SELECT unnest($4::text[])) GROUP BY 1, 2 ORDER BY 1, 2`,
)

/** A detail for each deletion that takes links of production with it which the change-set does not delete, unless it is said to. */
export async function grownDeletions(
  db: Db,
  baseId: string,
  merged: readonly Merged[],
  { mayGrow }: Pick<Resolutions, 'mayGrow'>,
): Promise<Detail[]> {
  const goes = merged.filter(isDeleted).map(({ draft }) => draft)
  const records = goes.filter(({ kind }) => kind === 'record')
  if (records.length === 0) return []
  const links = goes.flatMap(({ kind, id }) => (kind === 'relationship' ? id : []))
  type Found = { type: string; id: string; is_restricted: boolean }
  const found = await db.query<Found>(TAKEN_ALONG, [
    ...[baseId, records.map(({ type }) => type), records.map(({ id }) => id), links],
  ])
  const named = found.map((each) => ({ ...each, draft: { kind: 'record', ...each } as const }))
  const open = named.filter(({ draft, is_restricted: isRestricted }) => isRestricted || !mayGrow(draft))
  return open.map(({ draft, is_restricted: isRestricted }) => ({
    path: `/${nameOf(draft)}`,
    code: isRestricted ? 'restricted' : 'cascade_grew',
    message: isRestricted
      ? 'Relationships of production restrict the deletion of this record by now. Discard the change, or leave it out.'
      : 'The deletion of this record takes relationships of production with it that the change-set does not delete. Discard the change and delete it again, leave it out, or send resolve with take "preview" to delete them too.',
  }))
}

const GONE = statement(
  'ends_that_are_gone',
  `SELECT w.type, w.id FROM unnest($2::text[], $3::text[]) AS w (type, id)
   WHERE NOT EXISTS (SELECT FROM plinth.record r WHERE r.base_id = $1 AND r.record_type = w.type AND r.id = w.id)`,
)

/** A detail for each end that is gone of the links that a merge creates. */
export async function missingEnds(db: Db, baseId: string, merged: readonly Merged[]): Promise<Detail[]> {
  const becoming = new Map(merged.map(({ draft, after }) => [nameOf(draft), after !== null]))
  const ends = merged.flatMap(({ draft, before, after }) =>
    draft.kind === 'relationship' && after && !before
      ? (['source', 'target'] as const).map((side) => ({ link: draft.id, side, ...endOf(after, side) }))
      : [],
  )
  const open = ends.filter(({ name }) => becoming.get(name) !== true)
  if (open.length === 0) return []
  const values = [baseId, open.map(({ type }) => type), open.map(({ id }) => id)]
  const found = await db.query<{ type: string; id: string }>(GONE, values)
  const gone = new Set(found.map(({ type, id }) => nameOf({ kind: 'record', type, id })))
  return open
    .filter(({ name }) => becoming.has(name) || gone.has(name))
    .map(({ link, side, name, id }) => ({
      path: `/${link}/${side}_id`,
      code: 'unknown_record',
      message: `Production has no record "${name}" any more to be the ${side} of this relationship. Discard the change, leave it out, or promote the record along.`,
      received: id,
    }))
}

function endOf(link: Document, side: 'source' | 'target') {
  const [type, id] = [String(link[`${side}_record_type`]), String(link[`${side}_id`])]
  return { type, id, name: nameOf({ kind: 'record', type, id }) }
}
