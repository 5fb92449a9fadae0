import { IS_ATTACHED } from '../../data/ledger/attachment-condition.ts'
import { statement } from '../../storage/database/client.ts'
import { addCounts, addNamed, type Counted } from './deletion-summary.ts'
import type { WriteScope } from './write.ts'

// Same lock as configuration changes. It blocks writes to what is counted.
const LOCK_BASES = statement(
  'lock_bases',
  'SELECT 1 AS one FROM plinth.base WHERE id = ANY ((SELECT $1::text[])::text[]) ORDER BY id FOR UPDATE',
)
const LOCK_TYPES = statement(
  'lock_types_of_bases',
  'SELECT 1 AS one FROM plinth.record_type WHERE base_id = ANY ((SELECT $1::text[])::text[]) ORDER BY base_id, id FOR UPDATE',
)
const LOCK_LINK_TYPES = statement(
  'lock_relationship_types_of_bases',
  'SELECT 1 AS one FROM plinth.relationship_type WHERE base_id = ANY ((SELECT $1::text[])::text[]) ORDER BY base_id, id FOR UPDATE',
)
const COUNT_RECORDS = statement(
  'count_records_of_bases',
  `SELECT record_type AS type, count(*)::int AS count FROM plinth.record
   WHERE base_id = ANY ((SELECT $1::text[])::text[]) GROUP BY record_type`,
)
const COUNT_FILES = statement(
  'count_files_of_bases',
  `SELECT file_type AS type, count(*)::int AS count FROM plinth.file
   WHERE base_id = ANY ((SELECT $1::text[])::text[]) AND deleted_at IS NULL GROUP BY file_type`,
)
const COUNT_ATTACHMENTS = statement(
  'count_attachments_of_bases',
  `SELECT a.record_type AS type, count(*)::int AS count FROM plinth.attachment a
   WHERE a.base_id = ANY ((SELECT $1::text[])::text[]) AND ${IS_ATTACHED} GROUP BY a.record_type`,
)
const COUNT_LINKS = statement(
  'count_links_of_bases',
  `SELECT rel_type AS type, count(*)::int AS count FROM plinth.relationship
   WHERE base_id = ANY ((SELECT $1::text[])::text[]) GROUP BY rel_type`,
)
const NAME_TYPES = statement(
  'name_types_of_bases',
  `SELECT 'recordTypes' AS kind, id, version FROM plinth.record_type WHERE base_id = ANY ((SELECT $1::text[])::text[])
   UNION ALL
   SELECT 'relationshipTypes', id, version FROM plinth.relationship_type WHERE base_id = ANY ((SELECT $1::text[])::text[])
   UNION ALL
   SELECT 'fileTypes', id, version FROM plinth.file_type WHERE base_id = ANY ((SELECT $1::text[])::text[])
   ORDER BY 1, 2`,
)

type Named = { kind: 'recordTypes' | 'relationshipTypes' | 'fileTypes'; id: string; version: number }

/**
 * Adds deleted bases and their content to the plan, if there is one, and locks them. Counts only bases that
 * the token may read as a whole.
 */
export async function summarizeBases(
  { summary, access, db }: WriteScope,
  bases: readonly { id: string; version: number }[],
): Promise<void> {
  if (!summary) return
  const seen = bases.filter(({ id }) => access.allows('read', id, '*'))
  for (const base of seen) addNamed(summary, 'bases', base)
  const ids = [seen.map(({ id }) => id)]
  for (const lock of [LOCK_BASES, LOCK_TYPES, LOCK_LINK_TYPES]) await db.query(lock, ids)
  for (const each of await db.query<Named>(NAME_TYPES, ids)) addNamed(summary, each.kind, each)
  addCounts(summary, 'records', await db.query<Counted>(COUNT_RECORDS, ids))
  addCounts(summary, 'links', await db.query<Counted>(COUNT_LINKS, ids))
  addCounts(summary, 'files', await db.query<Counted>(COUNT_FILES, ids))
  addCounts(summary, 'attachments', await db.query<Counted>(COUNT_ATTACHMENTS, ids))
}
