/** Identities of drafts that another record or relationship of production has by now: external ids, and ends of links. */
import type { Detail } from '../../../foundation/errors.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { nameOf } from './drafts.ts'
import type { Merged } from './merge.ts'
import { isRemade, isThere, linkThere, pairOf } from './operations.ts'

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
