/** Attachments: named contents of a record. */
import { type DomainError, oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { requireType } from '../../configuration/record-types/index.ts'
import type { TypePolicy } from '../../core/policy.ts'
import { authorize, refuseWithPolicy } from '../../core/row-policy/apply.ts'
import type { Scope } from '../../core/scope.ts'
import { recordNotFound, written } from '../../data/ledger/record.ts'
import type { Permission } from '../../storage/access/grants.ts'
import { statement } from '../../storage/database/client.ts'
import { areWithin } from '../query/policy-read.ts'

/** An attachment. Its content never changes: another content of the same name is another attachment. */
export type Attachment = {
  id: string
  filename: string
  contentType: string
  /** Null until the content is there. */
  size: number | null
  sha256: string | null
  status: 'pending' | 'ready'
  createdAt: string
}
/** The attachment with a link, and when that ends. */
export type LinkedAttachment = Attachment & {
  url?: string | null
  uploadUrl?: string | null
  expiresAt?: string | null
}

export type RecordKey = readonly [baseId: string, recordType: string, id: string]

export type AttachmentRow = {
  id: string
  filename: string
  content_type: string
  size: number | null
  sha256: string | null
  status: 'pending' | 'ready'
  token_id: string | null
  actor_name: string
  created_at: Date | string
}

export const ATTACHMENT_COLUMNS =
  'a.id, a.filename, a.content_type, a.size::float8 AS size, a.sha256, a.status, a.token_id, a.actor_name, a.created_at'

/** The attachments `a` of the record `r`. A pending one counts while its upload link is valid. */
export const OF_RECORD = `plinth.record r JOIN plinth.attachment a
     ON a.base_id = r.base_id AND a.record_type = r.record_type AND a.record_id = r.id AND a.record_created_at = r.created_at
       AND (a.status = 'ready' OR a.created_at > now() - interval '${LIMITS.linkMinutes} minutes')`

export const toAttachment = (row: AttachmentRow): Attachment => ({
  id: row.id,
  filename: row.filename,
  contentType: row.content_type,
  size: row.size,
  sha256: row.sha256,
  status: row.status,
  createdAt: written(row.created_at),
})

/** The state of an attachment in the change log. */
export const stateOf = ([, recordType, recordId]: RecordKey, attachment: Attachment) => {
  const { status: _, ...state } = attachment
  return { ...state, recordType, recordId }
}

/** @throws FORBIDDEN if a policy restricts the type and does not offer its attachments */
export function requireOffered(policy: TypePolicy | undefined, recordType: string): void {
  if (!policy?.attachments) refuseWithPolicy(policy, recordType, 'The list of attachments')
}

/**
 * Checks that the attachments of a record are in reach: by the grants, and by the policy that restricts the type.
 * @throws FORBIDDEN; NOT_FOUND for a record outside the policy, as for an absent one
 */
export async function requireReach(scope: Scope, permission: Permission, key: RecordKey): Promise<void> {
  const [baseId, recordType, id] = key
  const policy = authorize(scope, permission, baseId, recordType)
  if (!policy) return
  requireOffered(policy, recordType)
  const type = await requireType(scope, baseId, recordType)
  if (!(await areWithin(scope, policy.filter, type, [id]))) throw recordNotFound(recordType, id)
}

const RECORD_EXISTS = statement(
  'attached_record_exists',
  'SELECT 1 FROM plinth.record WHERE base_id = $1 AND record_type = $2 AND id = $3',
)

/** @throws NOT_FOUND without base, type or record */
export async function requireRecord(scope: Scope, key: RecordKey): Promise<void> {
  const found = await scope.db.query(RECORD_EXISTS, [...key])
  if (found.length === 0) throw await recordIsAbsent(scope, key)
}

/** The error of an absent record, or of its absent type or base. */
export async function recordIsAbsent(
  scope: Scope,
  [baseId, recordType, id]: RecordKey,
): Promise<DomainError> {
  await requireType(scope, baseId, recordType)
  return recordNotFound(recordType, id)
}

export const attachmentNotFound = (what: string, path: string): DomainError =>
  oneFault('NOT_FOUND', `The record has no attachment ${what}.`, {
    path,
    code: 'attachment_not_found',
    message: 'List the attachments of the record to see what it has.',
  })
