import { LIMITS } from '../../../foundation/limits.ts'
import { policyOn } from '../../core/row-policy/apply.ts'
import type { Scope } from '../../core/scope.ts'
import type { RowCap } from '../../storage/database/capped-query.ts'
import { statement, timed } from '../../storage/database/client.ts'
import {
  ATTACHMENT_COLUMNS,
  type Attachment,
  type AttachmentRow,
  OF_RECORD,
  requireOffered,
  toAttachment,
} from './attachment.ts'

/** The step of an `expand` path that shows attachments, unless a relationship type has that name. */
export const ATTACHMENTS_STEP = 'attachments'

/** An attachment in the format of REST and MCP. */
type AttachmentView = {
  id: string
  filename: string
  content_type: string
  size: number | null
  sha256: string | null
  status: Attachment['status']
  created_at: string
}
type Row = AttachmentRow & { n: number }

// The lateral reads by index from the records, in any plan.
const OF_RECORDS = timed(
  statement(
    'attachments_of_records',
    `SELECT i.n::int AS n, f.* FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS i (record_type, id, n)
     CROSS JOIN LATERAL (
       SELECT ${ATTACHMENT_COLUMNS} FROM ${OF_RECORD}
       WHERE r.base_id = $1 AND r.record_type = i.record_type COLLATE "C" AND r.id = i.id COLLATE "C" AND a.status = 'ready'
       ORDER BY a.created_at, a.id LIMIT ${LIMITS.expandedOfOne + 1}) f
     ORDER BY i.n, f.created_at, f.id`,
  ),
)

/**
 * The attachments of records that the caller may read, oldest first, up to one more than an expansion shows. Undefined if they exceed the
 * cap.
 * @throws FORBIDDEN for a type with a policy that does not offer them
 */
export async function attachmentsOf(
  scope: Scope,
  baseId: string,
  records: readonly { recordType: string; id: string }[],
  cap: RowCap,
): Promise<AttachmentView[][] | undefined> {
  for (const recordType of new Set(records.map((record) => record.recordType)))
    requireOffered(policyOn(scope, baseId, recordType), recordType)
  const values = [baseId, records.map(({ recordType }) => recordType), records.map(({ id }) => id)]
  const { rows, isCut } = await scope.db.queryCapped<Row>(OF_RECORDS, values, cap, scope.closed)
  if (isCut) return undefined
  const found = Map.groupBy(rows, ({ n }) => n)
  return records.map((_, at) => (found.get(at + 1) ?? []).map(toView))
}

function toView(row: Row): AttachmentView {
  const { contentType, createdAt, ...rest } = toAttachment(row)
  const { id, filename, size, sha256, status } = rest
  return { id, filename, content_type: contentType, size, sha256, status, created_at: createdAt }
}
