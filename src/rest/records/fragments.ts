import { z } from 'zod'
import { trim } from '../../contract/response-bodies.ts'
import { graphql } from '../../graphql/document.ts'
import type { Reply } from '../route/reply.ts'
import { baseId, recordId, typeId } from '../route/shapes.ts'

/** What of a record is answered. */
export const RecordFields = graphql(`fragment RecordFields on Record {
  id record_type: recordType data created_at: createdAt updated_at: updatedAt external_id: externalId
  external_source: externalSource version status cancelled_at: cancelledAt valid
}`)

/** A claim that a write is made under. */
export const claimId = z.string().min(1).max(64).optional().meta({
  description: 'A claim on the record: the write is undone, and 409, unless its token still holds it.',
})

/** Where the records of a type are, and one of them. */
export const inType = z.strictObject({ base_id: baseId(), record_type: typeId })
export const one = inType.extend({ id: recordId })

export const needs =
  (permission: 'read' | 'write') =>
  ({ base_id = '', record_type = '' }) =>
    ({ permission, base: base_id, recordType: record_type }) as const

type RecordKey = { base_id: string; record_type: string; id: string }
/** The record of the path, as the operations take it. */
export const target = ({ base_id, record_type, id }: RecordKey) => ({
  base: base_id,
  recordType: record_type,
  id,
})

type Written = { id: string; operation: 'created' | 'updated' | 'unchanged' | null }

/** What was written, and where it is. */
export const written = (
  record: Written,
  { base_id, record_type }: { base_id: string; record_type: string },
): Reply => ({
  status: record.operation === 'created' ? 201 : 200,
  location: `/v1/${base_id}/records/${record_type}/${record.id}`,
  body: trim(record),
})
