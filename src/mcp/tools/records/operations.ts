/** GraphQL operations of the record tools. */

import { z } from 'zod'
import { invalid } from '../../../foundation/errors.ts'
import { graphql } from '../../../graphql/document.ts'
import { staticOperation } from '../../../graphql/execute.ts'
import { DeletionParts, PlanParts } from '../../../http/deletion-plan-fragment.ts'

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
/** Names of properties to empty, for clients that hold arguments to the schema, which has no null. */
export const clear = { clear: z.array(z.string()).optional() }

/**
 * The merge patch with null for the properties to empty.
 * @throws VALIDATION_ERROR for one that the patch also sets
 */
export function clearing(
  merge: Readonly<Record<string, unknown>> | undefined,
  properties: readonly string[] | undefined,
): Record<string, unknown> | undefined {
  if (!properties) return merge
  const nulls = properties.map((name, index) => {
    if (Object.hasOwn(merge ?? {}, name) && merge?.[name] !== null) throw setAndCleared(name, index)
    return [name, null] as const
  })
  return { ...merge, ...Object.fromEntries(nulls) }
}

const setAndCleared = (name: string, index: number) =>
  invalid({
    path: `/clear/${index}`,
    code: 'exclusive',
    message: `"${name.slice(0, 64)}" is set and cleared in one call. Send one of them.`,
  })

/** Arguments that change lists, in the shape of the data. */
export const lists = { append: data.optional(), remove: data.optional() }
/** `fields` with `id`, which later calls need: reads always show it. */
export const withId = (fields: readonly string[]) => (fields.includes('id') ? [...fields] : ['id', ...fields])
export const names = z.array(z.string()).optional()

/** The record fields that tools return. */
export const ToolRecord = graphql(`fragment ToolRecord on WrittenRecord {
  id record_type: recordType data created_at: createdAt updated_at: updatedAt external_id: externalId
  external_source: externalSource version status cancelled_at: cancelledAt valid operation dry_run: dryRun
}`)

export const ToolClaim = graphql(`fragment ToolClaim on Claim {
  id record_type: recordType record_id: recordId status attempts expires_at: expiresAt
  holder { token_id: tokenId name kind } claimed_at: claimedAt dry_run: dryRun
}`)

export const list =
  staticOperation(`query ToolQuery($base: String!, $recordType: String!, $filter: JSON, $sort: JSON, $fields: [String!], $expand: [String!],
    $include: [RecordPart!], $snippets: Boolean, $asOf: String, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
    records(base: $base, recordType: $recordType, filter: $filter, sort: $sort, fields: $fields, expand: $expand, include: $include, snippets: $snippets,
      asOf: $asOf, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
      rows hasMore limit offset total nextCursor cursors hint
    }
  }`)
export const get = staticOperation(
  `query ToolGet($base: String!, $recordType: String!, $id: String!, $expand: [String!], $include: [RecordPart!], $withClaim: Boolean!, $version: Int, $asOf: String) {
    record(base: $base, recordType: $recordType, id: $id, expand: $expand, include: $include, version: $version, asOf: $asOf) {
      ...ToolRecord claim @include(if: $withClaim) { ...ToolClaim } _expanded: expanded _expanded_truncated: expandedTruncated
    }
  }`,
  [ToolRecord, ToolClaim],
)
export const listSource =
  staticOperation(`query ToolSourceQuery($base: String!, $recordType: String!, $source: String!, $fields: [String!], $limit: Int, $offset: Int, $includeTotal: Boolean) {
    sourceRecords(base: $base, recordType: $recordType, source: $source, fields: $fields, limit: $limit, offset: $offset, includeTotal: $includeTotal) {
      rows hasMore limit offset total
    }
  }`)
export const getSource = staticOperation(
  `query ToolSourceGet($base: String!, $recordType: String!, $source: String!, $id: String!) {
    sourceRecord(base: $base, recordType: $recordType, source: $source, id: $id) { ...ToolRecord }
  }`,
  [ToolRecord],
)
export const put = staticOperation(
  `mutation ToolPut($base: String!, $recordType: String!, $id: String!, $data: JSON!, $externalId: String, $externalSource: String, $relationships: [RecordLink!], $expectedVersions: [Int!], $mustExist: Boolean, $claimId: String, $stated: JSON) {
    putRecord(base: $base, recordType: $recordType, id: $id, data: $data, externalId: $externalId, externalSource: $externalSource, relationships: $relationships,
      expectedVersions: $expectedVersions, mustExist: $mustExist, claimId: $claimId, stated: $stated) { ...ToolRecord relationships { created updated unchanged } warnings }
  }`,
  [ToolRecord],
)
export const putByPair = staticOperation(
  `mutation ToolPutByPair($base: String!, $recordType: String!, $data: JSON!, $externalId: String, $externalSource: String, $relationships: [RecordLink!], $expectedVersions: [Int!], $mustExist: Boolean, $claimId: String, $stated: JSON) {
    putRecordByExternalId(base: $base, recordType: $recordType, data: $data, externalId: $externalId, externalSource: $externalSource, relationships: $relationships,
      expectedVersions: $expectedVersions, mustExist: $mustExist, claimId: $claimId, stated: $stated) { ...ToolRecord relationships { created updated unchanged } warnings }
  }`,
  [ToolRecord],
)
/** Creates a record; shared with `create_<type>`. */
export const create = staticOperation(
  `mutation ToolCreate($base: String!, $recordType: String!, $data: JSON!, $externalId: String, $externalSource: String, $relationships: [RecordLink!]) {
    createRecord(base: $base, recordType: $recordType, data: $data, externalId: $externalId, externalSource: $externalSource, relationships: $relationships) { ...ToolRecord relationships { created updated unchanged } warnings }
  }`,
  [ToolRecord],
)
/** Applies a merge patch; shared with `update_<type>`. */
export const patch = staticOperation(
  `mutation ToolPatch($base: String!, $recordType: String!, $id: String!, $merge: JSON, $append: JSON, $remove: JSON, $externalId: String, $externalSource: String, $expectedVersions: [Int!], $claimId: String, $stated: JSON) {
    patchRecord(base: $base, recordType: $recordType, id: $id, merge: $merge, append: $append, remove: $remove, externalId: $externalId, externalSource: $externalSource,
      expectedVersions: $expectedVersions, claimId: $claimId, stated: $stated) { ...ToolRecord warnings }
  }`,
  [ToolRecord],
)
export const cancel = staticOperation(
  `mutation ToolCancel($base: String!, $recordType: String!, $id: String!, $expectedVersions: [Int!], $claimId: String) {
    cancelRecord(base: $base, recordType: $recordType, id: $id, expectedVersions: $expectedVersions, claimId: $claimId) { ...ToolRecord }
  }`,
  [ToolRecord],
)
export const remove = staticOperation(
  `mutation ToolDelete($base: String!, $recordType: String!, $id: String!, $expectedVersions: [Int!], $claimId: String) {
    deleteRecord(base: $base, recordType: $recordType, id: $id, expectedVersions: $expectedVersions, claimId: $claimId) {
      id deleted dry_run: dryRun deletion { ...DeletionParts } plan { ...PlanParts }
    }
  }`,
  [DeletionParts, PlanParts],
)
