import { z } from 'zod'

/** Arguments shared by the record tools, and their mapping to GraphQL variables. */
export const inType = { record_type: z.string() }
export const one = { ...inType, id: z.string() }
export const expected = {
  expected_version: z.int32().min(1).optional(),
}
export const claim = { claim_id: z.string().optional() }
export const pair = {
  external_id: z.string().optional(),
  external_source: z.string().optional(),
}
export const data = z.record(z.string(), z.unknown())
export const names = z.array(z.string()).optional()

type RecordKey = { base_id: string; record_type: string; id: string }
export const target = ({ base_id, record_type, id }: RecordKey) => ({
  base: base_id,
  recordType: record_type,
  id,
})
export const versions = ({ expected_version }: { expected_version?: number | undefined }) =>
  expected_version === undefined ? {} : { expectedVersions: [expected_version] }
export const claimOf = ({ claim_id }: { claim_id?: string | undefined }) =>
  claim_id === undefined ? {} : { claimId: claim_id }
export const statedOf = ({ stated }: { stated?: object | undefined }) => (stated ? { stated } : {})
export const pairOf = ({
  external_id,
  external_source,
}: {
  external_id?: string | undefined
  external_source?: string | undefined
}) => ({
  ...(external_id !== undefined && { externalId: external_id }),
  ...(external_source !== undefined && { externalSource: external_source }),
})
