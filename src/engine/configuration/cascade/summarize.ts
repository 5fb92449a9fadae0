import { LIMITS } from '../../../foundation/limits.ts'
import { findType } from '../../core/load-type.ts'
import { policyOn, rightsOf } from '../../core/row-policy/apply.ts'
import { addCounts, addRecords, type Counted, samplesLeft } from '../../core/write/deletion-summary.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { IS_ATTACHED } from '../../data/ledger/attachment-condition.ts'
import { namedTypes } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'
import type { CascadedRecord } from './find-cascade.ts'
import { seenBy } from './restrict.ts'

// OFFSET 0 keeps the base out of the look-ups: without statistics, the planner would read all links of it.
const LINKS_OF_ROWS = `SELECT l.id, l.rel_type, l.source_record_type, l.target_record_type
   FROM unnest((SELECT $2::bigint[])) AS g (row_no) CROSS JOIN LATERAL (
     (SELECT * FROM plinth.relationship o WHERE o.source_row = g.row_no OFFSET 0)
     UNION ALL (SELECT * FROM plinth.relationship i WHERE i.target_row = g.row_no OFFSET 0)) l
   WHERE l.base_id = $1`
const countOf = (touching: string): string =>
  `WITH touching AS MATERIALIZED (${touching})
   SELECT l.rel_type AS type, count(*)::int AS count FROM touching l WHERE ${seenBy('$3')} GROUP BY l.rel_type`

// A link between two of the records is counted once.
const COUNT_LINKS = statement(
  'count_links_of_records',
  countOf(`SELECT DISTINCT ON (id) * FROM (${LINKS_OF_ROWS}) l ORDER BY id`),
)
const COUNT_LINKS_OF_TYPE = statement(
  'count_links_of_record_type',
  countOf(
    `SELECT l.id, l.rel_type, l.source_record_type, l.target_record_type FROM plinth.relationship l
     WHERE l.base_id = $1 AND l.rel_type = ANY ($5::text[]) AND (l.source_record_type = $4 OR l.target_record_type = $4)
     UNION ${LINKS_OF_ROWS}`,
  ),
)
const COUNT_RECORDS = statement(
  'count_records_of_type',
  'SELECT $2::text AS type, count(*)::int AS count FROM plinth.record WHERE base_id = $1 AND record_type = $2',
)

const COUNT_ATTACHMENTS = statement(
  'count_attachments_of_records',
  `SELECT r.record_type AS type, count(*)::int AS count FROM unnest((SELECT $2::bigint[])) AS g (row_no)
   CROSS JOIN LATERAL (SELECT * FROM plinth.record r WHERE r.row_no = g.row_no LIMIT 1) r
   CROSS JOIN LATERAL (
     SELECT FROM plinth.attachment a WHERE a.base_id = $1 AND a.record_type = r.record_type AND a.record_id = r.id
       AND a.record_created_at = r.created_at AND a.status = 'ready' OFFSET 0) a
   GROUP BY r.record_type`,
)
const COUNT_ATTACHMENTS_OF_TYPE = statement(
  'count_attachments_of_type',
  `SELECT a.record_type AS type, count(*)::int AS count FROM plinth.attachment a
   WHERE a.base_id = $1 AND a.record_type = $2 AND ${IS_ATTACHED} GROUP BY a.record_type`,
)

/** The property `p` of each record, or else the id that the record has elsewhere. */
const TITLES = statement(
  'titles_of_deleted',
  `SELECT coalesce(nullif(CASE WHEN jsonb_typeof(r.value) IN ('string', 'number')
     THEN left(r.value #>> '{}', ${LIMITS.titleChars}) END, ''), r.external_id) AS title
   FROM unnest((SELECT $1::bigint[]), (SELECT $2::text[])) WITH ORDINALITY AS g (row_no, p, n)
   LEFT JOIN LATERAL (SELECT r.data -> g.p AS value, r.external_id FROM plinth.record r WHERE r.row_no = g.row_no LIMIT 1) r
     ON true
   ORDER BY g.n`,
)

/** Adds the records to delete and their links to the plan, if there is one. */
export async function summarizeRecords(
  scope: WriteScope,
  baseId: string,
  cascaded: readonly CascadedRecord[],
): Promise<void> {
  const { summary, access, db } = scope
  if (!summary) return
  await addSeen(scope, baseId, cascaded)
  const values = [baseId, cascaded.map(({ rowNo }) => rowNo), namedTypes(access, 'read', baseId)]
  addCounts(summary, 'links', await db.query<Counted>(COUNT_LINKS, values))
}

/** Variant for all records of a type and those of other types in `along`. `relTypes`: the relationship types that touch the type. */
export async function summarizeType(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  along: readonly CascadedRecord[],
  relTypes: readonly string[],
): Promise<void> {
  const { summary, access, db } = scope
  if (!summary) return
  addCounts(summary, 'records', await db.query<Counted>(COUNT_RECORDS, [baseId, recordType]))
  addCounts(summary, 'attachments', await db.query<Counted>(COUNT_ATTACHMENTS_OF_TYPE, [baseId, recordType]))
  await addSeen(scope, baseId, along)
  if (relTypes.length === 0 && along.length === 0) return
  const rows = along.map(({ rowNo }) => rowNo)
  const values = [baseId, rows, namedTypes(access, 'read', baseId), recordType, relTypes]
  addCounts(summary, 'links', await db.query<Counted>(COUNT_LINKS_OF_TYPE, values))
}

/** Adds the records that the token may read, and their attachments. */
async function addSeen(
  scope: WriteScope,
  baseId: string,
  cascaded: readonly CascadedRecord[],
): Promise<void> {
  const { db, summary } = scope
  // Under a row policy the deletion has refused what is outside of it.
  const rights = rightsOf(scope)
  const seen = cascaded.filter(({ recordType }) => rights.allows('read', baseId, recordType))
  if (!summary || seen.length === 0) return
  addRecords(summary, seen, await titlesOf(scope, baseId, seen.slice(0, samplesLeft(summary))))
  const rows = seen.map(({ rowNo }) => rowNo)
  addCounts(summary, 'attachments', await db.query<Counted>(COUNT_ATTACHMENTS, [baseId, rows]))
}

/** Under a row policy, records have none: the property could be hidden. */
async function titlesOf(
  scope: WriteScope,
  baseId: string,
  records: readonly CascadedRecord[],
): Promise<(string | null)[]> {
  if (records.length === 0) return []
  const properties: (string | null)[] = []
  for (const { recordType } of records)
    properties.push((await findType(scope, baseId, recordType))?.title ?? null)
  const values = [records.map(({ rowNo }) => rowNo), properties]
  const rows = await scope.db.query<{ title: string | null }>(TITLES, values)
  return rows.map(({ title }, n) => (policyOn(scope, baseId, records[n]?.recordType ?? '') ? null : title))
}
