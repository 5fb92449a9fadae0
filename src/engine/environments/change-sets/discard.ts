/** Takes drafts out of a change-set: those that are promoted, and those that are discarded. What is left shows production again. */
import { DiscardBody } from '../../../contract/config-shapes.ts'
import { productionOf } from '../../../contract/ids.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { inChangeSet, requireChangeSet } from '../../core/change-set/change-set-scope.ts'
import { holdChangeSet, requireOpen, takeStep } from '../../core/change-set/lifecycle.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { requirePermission } from '../../storage/access/access.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { type ShownEdit, shownDrafts } from '../edits.ts'
import { asEdit, type Draft, typesOf } from './drafts.ts'
import { applyDrafts } from './operations.ts'
import { keepPace, paced } from './pace.ts'
import { selectSeen, wholeAndParts } from './selection.ts'

/** What is taken out of a record deletes nothing. */
const NONE_GROWS = { mayGrow: () => false }

const RAISE = statement(
  'raise_revision',
  `UPDATE plinth.change_set SET revision = revision + 1, written_at = now(), status = 'open' WHERE base_id = $1 RETURNING revision`,
)

export type Discarded = { from: string; revision: number; changes: readonly ShownEdit[] }

/**
 * Discards drafts, or fields of updates, and the links of records that only the change-set had.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND
 */
export async function discardDrafts(scope: WriteScope, id: string, input: object): Promise<Discarded> {
  await requireChangeSet(scope, id)
  const { resources } = check(DiscardBody, input, inBody())
  const { db } = await paced(scope, id, false)
  return db.transaction(async (tx) => {
    requireOpen(id, (await holdChangeSet(tx, id)).status)
    const [raised] = await tx.query<{ revision: number }>(RAISE, [id])
    const selected = await selectSeen({ ...scope, db: tx }, id, resources)
    for (const type of new Set(selected.flatMap(typesOf))) requirePermission(scope.access, 'write', id, type)
    const { whole = [], parts = [] } = wholeAndParts(selected)
    await dropDrafts(tx, id, whole, { withLinks: true })
    const merged = parts.map((draft) => ({ draft, before: draft.preview, after: draft.rest ?? null }))
    const within = { ...scope, ...(await inChangeSet({ ...scope, db: tx }, id)) }
    await applyDrafts(within, productionOf(id), merged, NONE_GROWS)
    const about = { discarded: selected.length }
    await takeStep({ ...scope, db: tx }, id, { event: 'discarded', about })
    const changes = await shownDrafts({ ...scope, db: tx }, productionOf(id), selected.map(asEdit))
    // No trigger logs what is taken out.
    await keepPace({ ...scope, db: tx }, productionOf(id), selected.length)
    return { from: id, revision: raised?.revision ?? 0, changes }
  })
}

const DROP = statement(
  'drop_draft_records',
  `DELETE FROM plinth.draft_record d USING unnest($2::text[], $3::text[]) AS i (record_type, id)
   WHERE d.branch = $1 AND d.record_type = i.record_type COLLATE "C" AND d.id = i.id COLLATE "C"
   RETURNING d.row_no, d.base_version IS NULL AS is_new`,
)
// A subquery is hashed in every plan. A list is searched for each row in a generic plan, which took seconds.
const DROP_ENTRIES = statement(
  'drop_draft_entries',
  `WITH texts AS (
     DELETE FROM plinth.draft_text t USING unnest($2::text[], $3::text[]) AS i (record_type, id), plinth.record_type_index x
     WHERE t.branch = $1 AND t.id = i.id COLLATE "C" AND x.base_id = t.base_id AND x.record_type = i.record_type COLLATE "C"
       AND x.id = t.index_id),
   changes AS (
     DELETE FROM plinth.draft_change c USING unnest($2::text[], $3::text[]) AS i (record_type, id)
     WHERE c.branch = $1 AND c.kind = 'record' AND c.record_type = i.record_type COLLATE "C" AND c.id = i.id COLLATE "C")
   DELETE FROM plinth.draft_index WHERE branch = $1 AND (row_no IN (SELECT unnest($4::bigint[]))) IS TRUE`,
)
/** Of these links, and of those whose ends are gone with the drafts that made them. */
const DROP_LINKS = statement(
  'drop_draft_links',
  `WITH gone AS (
     DELETE FROM plinth.draft_relationship
     WHERE branch = $1 AND (id IN (SELECT unnest($2::text[])) OR source_row IN (SELECT unnest($3::bigint[]))
       OR target_row IN (SELECT unnest($3::bigint[]))) RETURNING id)
   DELETE FROM plinth.draft_change c USING gone WHERE c.branch = $1 AND c.kind = 'relationship' AND c.record_type = '' AND c.id = gone.id`,
)

type Named = Pick<Draft, 'kind' | 'type' | 'id'>
type Dropped = { row_no: string; is_new: boolean }

/** Drops drafts. `withLinks`: also the links of records that are no more. */
export async function dropDrafts(
  tx: Db,
  id: string,
  drafts: readonly Named[],
  { withLinks = false } = {},
): Promise<void> {
  const records = drafts.filter(({ kind }) => kind === 'record')
  const keys = [records.map(({ type }) => type), records.map((each) => each.id)]
  const gone = await tx.query<Dropped>(DROP, [id, ...keys])
  await tx.query(DROP_ENTRIES, [id, ...keys, gone.map(({ row_no }) => row_no)])
  const links = drafts.flatMap((each) => (each.kind === 'relationship' ? each.id : []))
  const ends = withLinks ? gone.filter(({ is_new }) => is_new).map(({ row_no }) => row_no) : []
  await tx.query(DROP_LINKS, [id, links, ends])
}

const relinkEnd = (end: 'source' | 'target') =>
  statement(
    `relink_drafts_by_${end}`,
    `UPDATE plinth.draft_relationship l SET ${end}_row = r.row_no FROM plinth.record r
   WHERE l.branch = $1 AND r.base_id = l.base_id AND r.record_type = l.${end}_record_type AND r.id = l.${end}_id
     AND r.row_no <> l.${end}_row
     AND NOT EXISTS (SELECT FROM plinth.draft_record d WHERE d.branch = $1 AND d.row_no = l.${end}_row)`,
  )
const RELINK = [relinkEnd('source'), relinkEnd('target')]

/** Links that stay name the rows that records have got in production. */
export async function relink(tx: Db, id: string): Promise<void> {
  for (const statement of RELINK) await tx.query(statement, [id])
}

const REBASE = statement(
  'rebase_drafts',
  `UPDATE plinth.draft_record d SET base = i.base
   FROM unnest($2::text[], $3::text[], $4::jsonb[]) AS i (record_type, id, base)
   WHERE d.branch = $1 AND d.record_type = i.record_type COLLATE "C" AND d.id = i.id COLLATE "C"`,
)

/** Measures what is left of records from the fields that were promoted. */
export async function rebase(tx: Db, id: string, promoted: readonly Draft[]): Promise<void> {
  if (promoted.length === 0) return
  const bases = promoted.map(({ preview }) => JSON.stringify(preview))
  await tx.query(REBASE, [id, promoted.map(({ type }) => type), promoted.map((each) => each.id), bases])
}

const DROP_ALL = ['record', 'relationship', 'index', 'text', 'change'].map((table) =>
  statement(`drop_all_draft_${table}`, `DELETE FROM plinth.draft_${table} WHERE branch = $1`),
)

/** Drops what a closed change-set holds: from now on it shows production. */
export async function dropAll(tx: Db, id: string): Promise<void> {
  for (const statement of DROP_ALL) await tx.query(statement, [id])
}
