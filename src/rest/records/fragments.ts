import { z } from 'zod'
import { writtenBody } from '../../contract/response-bodies.ts'
import { graphql } from '../../graphql/document.ts'
import type { Reply } from '../route/reply.ts'
import { baseId, recordId, typeId } from '../route/shapes.ts'

/** The fields of a record in responses. */
export const RecordFields = graphql(`fragment RecordFields on WrittenRecord {
  id record_type: recordType data created_at: createdAt updated_at: updatedAt external_id: externalId
  external_source: externalSource version status cancelled_at: cancelledAt valid
}`)

/** The claim under which a write runs. */
export const claimId = z.string().min(1).max(64).optional().meta({
  description: 'A claim on the record. If the token no longer holds it, the write is rolled back with 409.',
})

/** Path parameters of a type's records, and of one record. */
export const inType = z.strictObject({ base_id: baseId(), record_type: typeId })
export const one = inType.extend({ id: recordId })

type RecordKey = { base_id: string; record_type: string; id: string }
/** Converts path parameters to GraphQL variables. */
export const target = ({ base_id, record_type, id }: RecordKey) => ({
  base: base_id,
  recordType: record_type,
  id,
})

type Written = {
  id: string
  operation: 'created' | 'updated' | 'unchanged' | null
  warnings: string[] | null
}

/** Response of a record write, with its Location header. */
export const written = (
  record: Written,
  { base_id, record_type }: { base_id: string; record_type: string },
): Reply => ({
  status: record.operation === 'created' ? 201 : 200,
  location: `/v1/${base_id}/records/${record_type}/${record.id}`,
  body: writtenBody(record),
})
