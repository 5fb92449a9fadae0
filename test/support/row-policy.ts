import { parse } from 'graphql'
import type { PolicyInput } from '../../src/engine/core/policy.ts'
import { openEngine } from '../../src/engine/engine.ts'
import { DomainError } from '../../src/foundation/errors.ts'
import { narrowedToBounds, openContext } from '../../src/graphql/context.ts'
import type { TadaDocumentNode } from '../../src/graphql/document.ts'
import { compile } from '../../src/graphql/execute.ts'
import { engineOptions } from './engine-options.ts'
import type { Body } from './server.ts'
import type { World } from './world.ts'

type Variables = Record<string, unknown>

const WRITTEN = 'id recordType data externalId externalSource version status valid operation'
const RECORD = `${WRITTEN} expanded`
const documents = {
  get: `query ($type: String!, $id: String!, $expand: [String!], $version: Int, $asOf: String) {
    it: record(base: "crm", recordType: $type, id: $id, expand: $expand, version: $version, asOf: $asOf) { ${RECORD} } }`,
  list: `query ($type: String!, $filter: JSON, $sort: JSON, $fields: [String!], $expand: [String!], $limit: Int, $offset: Int, $cursor: String, $asOf: String) {
    it: records(base: "crm", recordType: $type, filter: $filter, sort: $sort, fields: $fields, expand: $expand, limit: $limit,
      offset: $offset, cursor: $cursor, asOf: $asOf, includeTotal: true) { rows total hasMore nextCursor hint } }`,
  wait: `query ($type: String!, $filter: JSON, $timeout: Int) {
    it: waitForRecords(base: "crm", recordType: $type, filter: $filter, timeout: $timeout) { rows } }`,
  aggregate: `query ($type: String!, $filter: JSON, $aggregations: JSON, $groupBy: JSON) {
    it: aggregate(base: "crm", recordType: $type, filter: $filter, aggregations: $aggregations, groupBy: $groupBy) { rows } }`,
  related: `query ($type: String!, $id: String!, $relType: String, $direction: RelatedDirection, $depth: Int, $relatedType: String, $filter: JSON, $sort: JSON) {
    it: related(base: "crm", recordType: $type, id: $id, relType: $relType, direction: $direction, depth: $depth, relatedType: $relatedType,
      filter: $filter, sort: $sort, includeTotal: true) { rows total } }`,
  create: `mutation ($type: String!, $id: String, $data: JSON!, $externalId: String, $relationships: [RecordLink!], $dryRun: Boolean, $key: String) {
    it: createRecord(base: "crm", recordType: $type, id: $id, data: $data, externalId: $externalId, relationships: $relationships, dryRun: $dryRun, idempotencyKey: $key) { ${WRITTEN} dryRun } }`,
  put: `mutation ($type: String!, $id: String!, $data: JSON!, $externalId: String, $versions: [Int!], $exists: Boolean, $absent: Boolean, $dryRun: Boolean) {
    it: putRecord(base: "crm", recordType: $type, id: $id, data: $data, externalId: $externalId, expectedVersions: $versions,
      mustExist: $exists, mustBeAbsent: $absent, dryRun: $dryRun) { ${WRITTEN} dryRun } }`,
  putByPair: `mutation ($type: String!, $data: JSON!, $externalId: String) {
    it: putRecordByExternalId(base: "crm", recordType: $type, data: $data, externalId: $externalId) { ${WRITTEN} } }`,
  patch: `mutation ($type: String!, $id: String!, $merge: JSON, $operations: JSON, $externalId: String, $versions: [Int!], $claim: String) {
    it: patchRecord(base: "crm", recordType: $type, id: $id, merge: $merge, operations: $operations, externalId: $externalId,
      expectedVersions: $versions, claimId: $claim) { ${WRITTEN} } }`,
  cancel: `mutation ($type: String!, $id: String!, $versions: [Int!]) {
    it: cancelRecord(base: "crm", recordType: $type, id: $id, expectedVersions: $versions) { ${WRITTEN} } }`,
  restore: `mutation ($type: String!, $id: String!) { it: restoreRecord(base: "crm", recordType: $type, id: $id) { ${WRITTEN} } }`,
  remove: `mutation ($type: String!, $id: String!, $versions: [Int!]) {
    it: deleteRecord(base: "crm", recordType: $type, id: $id, expectedVersions: $versions) { id deleted } }`,
  batch: `mutation ($operations: JSON!) { it: batch(base: "crm", operations: $operations) { rows } }`,
  link: `mutation ($input: RelationshipInput!) { it: putRelationship(base: "crm", input: $input) { id sourceId targetId version } }`,
  unlink: `mutation ($relType: String!, $sourceRecordType: String!, $sourceId: String!, $targetRecordType: String!, $targetId: String!) {
    it: unlinkRecords(base: "crm", relType: $relType, sourceRecordType: $sourceRecordType, sourceId: $sourceId,
      targetRecordType: $targetRecordType, targetId: $targetId) { id deleted } }`,
} as const
type Name = keyof typeof documents

const run = new Map(
  Object.entries(documents).map(([name, text]) => [
    name,
    compile(parse(text) as TadaDocumentNode<{ it: Body }, Variables>),
  ]),
)

/** Runs an operation under a row policy. Failures are in `error`. */
export type Through = (
  name: Name | { text: string },
  variables?: Variables,
) => Promise<{ body: Body; error: DomainError | undefined }>

/**
 * Opens the engine on the world's database and runs GraphQL in contexts that are narrowed as endpoints do.
 */
export async function openPolicyEngine(world: World): Promise<{
  through(types: readonly PolicyInput[], token?: string): Promise<Through>
  close(): Promise<void>
}> {
  const engine = await openEngine(await engineOptions(world))
  return {
    through: async (types, token = world.adminToken) => {
      const session = await engine.authenticate(token)
      if (!session) throw new Error('There is no such token')
      return async (name, variables = {}) => {
        const context = narrowedToBounds(openContext(engine, session, 'mcp', 'request'), 'crm', types)
        const operation =
          typeof name === 'string'
            ? run.get(name)
            : compile(parse(name.text) as TadaDocumentNode<{ it: Body }, Variables>)
        try {
          const { it } = (await operation?.(variables, context)) ?? {}
          return { body: JSON.parse(JSON.stringify(it)), error: undefined }
        } catch (thrown) {
          if (thrown instanceof DomainError) return { body: undefined, error: thrown }
          throw thrown
        }
      }
    },
    close: () => engine.close(),
  }
}
