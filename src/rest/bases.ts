/** REST routes of bases. */

import { z } from 'zod'
import { CHANGE_SET_STATES } from '../contract/change-set-shapes.ts'
import { isBaseId } from '../contract/ids.ts'
import { deletedBody, trim } from '../contract/response-bodies.ts'
import { BaseBody, BaseSettings } from '../contract/shapes.ts'
import { graphql } from '../graphql/document.ts'
import { DeletionParts } from '../http/deletion-plan-fragment.ts'
import { byName } from './route/by-name.ts'
import { listOf, without } from './route/page.ts'
import { pageQuery } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { baseId, Deleted, expectedVersion, time } from './route/shapes.ts'

export const Base = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    environment: z.enum(['production', 'preview']),
    production_base: z.string().nullable(),
    settings: BaseSettings,
    change_set: z
      .object({
        title: z.string().nullable(),
        status: z.enum(CHANGE_SET_STATES),
        revision: z.int().meta({ description: 'Rises with each request that changes something.' }),
        created_by: z.string().nullable().meta({ description: 'The id of the token.' }),
        created_by_name: z.string(),
        written_at: time,
        closed_at: time.nullable(),
        approvals: z
          .object({ needed: z.int(), given: z.int() })
          .meta({ description: 'Of the present revision.' }),
        counts: z.object({ create: z.int(), update: z.int(), delete: z.int() }),
      })
      .nullable()
      .meta({ description: 'Of a change-set; null for other bases.' }),
    version: z.int(),
    created_at: time,
    updated_at: time,
    counts: z
      .object({ record_types: z.int(), records: z.int() })
      .optional()
      .meta({ description: 'Only with `include=counts`.' }),
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'Base' })

export const BaseFields = graphql(`fragment BaseFields on Base {
  id name description environment production_base: productionBase settings
  change_set: changeSet { title status revision created_by: createdBy created_by_name: createdByName written_at: writtenAt closed_at: closedAt approvals counts }
  version created_at: createdAt updated_at: updatedAt
}`)

const params = z.strictObject({ id: baseId(isBaseId) })
const include = z
  .enum(['counts'])
  .optional()
  .meta({ description: '`counts` adds the numbers of record types and records in the base.' })

export const bases = tagged('Bases', [
  route('GET /bases', {
    summary: 'List bases',
    need: () => null,
    query: pageQuery.extend({ include }),
    operation: graphql(
      `query ListBases($limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean, $counts: Boolean!) {
        page: bases(limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { ...BaseFields counts @include(if: $counts) } hasMore truncated limit offset total nextCursor
        }
      }`,
      [BaseFields],
    ),
    variables: (parts) => ({ ...byName(parts), counts: parts.query.include === 'counts' }),
    answers: listOf(Base),
  }),
  route('PUT /bases/:id', {
    summary: 'Create or update a base',
    need: ({ id = '' }) => ({ permission: 'manage', base: id, recordType: '*' }),
    params,
    body: BaseBody.extend({ id: z.string().optional(), expected_version: expectedVersion }),
    versioned: true,
    operation: graphql(
      `mutation PutBase($id: String!, $input: BaseInput!, $expectedVersions: [Int!], $mustExist: Boolean, $mustBeAbsent: Boolean) {
        putBase(id: $id, input: $input, expectedVersions: $expectedVersions, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent) {
          ...BaseFields operation dry_run: dryRun
        }
      }`,
      [BaseFields],
    ),
    variables: (parts) => ({ ...byName(parts), input: without(parts.body, 'id', 'expected_version') }),
    reply: ({ putBase }) => ({
      status: putBase.operation === 'created' ? 201 : 200,
      location: `/v1/bases/${putBase.id}`,
      body: trim(without(putBase, 'operation')),
    }),
    statuses: [200, 201],
    answers: Base,
  }),
  route('GET /bases/:id', {
    summary: 'Get a base',
    need: ({ id = '' }) => ({ knownBase: id }),
    params,
    query: z.strictObject({ include }),
    renamed: { base_id: 'id' },
    versioned: true,
    operation: graphql(
      `query GetBase($id: String!, $counts: Boolean!) { base(id: $id) { ...BaseFields counts @include(if: $counts) } }`,
      [BaseFields],
    ),
    variables: ({ params, query }) => ({ id: params.id, counts: query.include === 'counts' }),
    answers: Base,
  }),
  route('DELETE /bases/:id', {
    summary: 'Delete a base and everything in it',
    // Whoever opened a change-set may drop it.
    need: ({ id = '' }) =>
      id.includes('--')
        ? { permission: 'write', anyOf: id }
        : { permission: 'admin', base: id, recordType: '*' },
    params,
    query: z.strictObject({
      confirm: z.string().optional().meta({ description: 'The base id. Required if the base has records.' }),
    }),
    renamed: { base_id: 'id' },
    versioned: true,
    operation: graphql(
      `mutation DeleteBase($id: String!, $confirm: String, $expectedVersions: [Int!]) {
        deleteBase(id: $id, confirm: $confirm, expectedVersions: $expectedVersions) {
          id deleted dry_run: dryRun deletion { ...DeletionParts }
        }
      }`,
      [DeletionParts],
    ),
    reply: ({ deleteBase }) => ({ body: deletedBody(deleteBase) }),
    answers: Deleted,
  }),
])
