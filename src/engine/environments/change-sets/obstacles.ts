/** What is in the way of a merge: identities that production has by now, links at what is deleted, and ends that are gone. */
import type { Detail } from '../../../foundation/errors.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { type Document, nameOf } from './drafts.ts'
import type { Merged, Resolutions } from './merge.ts'
import { isDeleted, isRemade, isThere, linkThere, pairOf } from './operations.ts'

// Of the pairs that records and links of the types `$3` with the ids `$4` are to have, those that others of production hold: but for the
// records `$7` with the ids `$8`, and the links `$8`, which go along.
const TAKEN = statement(
  'drafted_pairs_taken',
  `WITH w AS (
     SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) AS w (kind, type, id, external_id, external_source)),
   gone AS (SELECT * FROM unnest($7::text[], $8::text[]) AS g (type, id))
   SELECT w.kind, w.type, w.id FROM w JOIN plinth.record r ON r.base_id = $1 AND r.record_type = w.type
     AND r.external_source = w.external_source AND r.external_id = w.external_id AND r.id <> w.id
   WHERE w.kind = 'record' AND NOT EXISTS (SELECT FROM gone g WHERE g.type = r.record_type AND g.id = r.id)
   UNION ALL
   SELECT w.kind, w.type, w.id FROM w JOIN plinth.relationship l ON l.base_id = $1 AND l.rel_type = w.type
     AND l.external_source = w.external_source AND l.external_id = w.external_id AND l.id <> w.id
   WHERE w.kind = 'relationship' AND NOT EXISTS (SELECT FROM gone g WHERE g.id = l.id)
   ORDER BY 1, 2, 3`,
)

// The links `$2` of a change-set whose ends others of production link by now; `$3` are those that it changes along.
const LINKED = statement(
  'drafted_links_there',
  `SELECT d.id FROM plinth.draft_relationship d JOIN plinth.relationship l
     ON l.source_row = d.source_row AND l.rel_type = d.rel_type AND l.target_row = d.target_row AND l.id <> d.id
   WHERE d.branch = $1 AND d.id = ANY ($2::text[]) AND l.id NOT IN (SELECT unnest($3::text[])) ORDER BY 1`,
)

/** A detail for each draft that would be another one of production. */
export async function taken(
  db: Db,
  { baseId, from }: { baseId: string; from: string },
  merged: readonly Merged[],
): Promise<Detail[]> {
  return [...(await pairsTaken(db, baseId, merged)), ...(await endsTaken(db, from, merged))]
}

async function pairsTaken(db: Db, baseId: string, merged: readonly Merged[]): Promise<Detail[]> {
  const paired = merged.filter(({ before, after }) => after && Object.keys(pairOf(after, before)).length > 0)
  if (paired.length === 0) return []
  const gone = merged.filter((each) => each.after === null || isRemade(each))
  const found = await db.query<Merged['draft']>(TAKEN, [
    ...[baseId, paired.map(({ draft }) => draft.kind), paired.map(({ draft }) => draft.type)],
    ...[paired.map(({ draft }) => draft.id), paired.map(({ after }) => after?.['external_id'])],
    paired.map(({ after }) => after?.['external_source']),
    ...[gone.map(({ draft }) => draft.type), gone.map(({ draft }) => draft.id)],
  ])
  return found.map((draft) => ({
    path: `/${nameOf(draft)}/external_id`,
    code: 'duplicate_external_id',
    message: `Another ${draft.kind} of production has this external_id with this external_source by now. Discard the change, or delete the other one in the change-set.`,
  }))
}

async function endsTaken(db: Db, from: string, merged: readonly Merged[]): Promise<Detail[]> {
  const links = merged.filter(({ draft }) => draft.kind === 'relationship')
  const made = links.flatMap(({ draft, before, after }) => (before === null && after ? draft.id : []))
  if (made.length === 0) return []
  const along = links.map(({ draft }) => draft.id)
  const found = await db.query<{ id: string }>(LINKED, [from, made, along])
  return found.map(({ id }) => linkThere(id))
}

/** @throws CONFLICT with each draft that would be another one of production */
export async function requireNotTaken(...args: Parameters<typeof taken>): Promise<void> {
  const details = await taken(...args)
  if (details.length > 0) throw isThere(details)
}

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
