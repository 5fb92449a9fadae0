import { z } from 'zod'
import { ToolsetBody, ToolsetPut } from '../contract/endpoint-shapes.ts'
import { pageBody, trim } from '../contract/response-bodies.ts'
import { graphql } from '../graphql/document.ts'
import { listOf, without } from './page.ts'
import { pageOf, pageQuery } from './query.ts'
import { route } from './route.ts'
import { baseId, Deleted, onBase, time, toolsetId } from './shapes.ts'

const Toolset = ToolsetBody.required()
  .extend({
    id: z.string(),
    version: z.int(),
    created_at: time,
    updated_at: time,
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'Toolset' })

const ToolsetFields = graphql(`fragment ToolsetFields on Toolset {
  id name description tools version created_at: createdAt updated_at: updatedAt
}`)

const params = z.strictObject({ base_id: baseId(), id: toolsetId })

/** The rows of toolsets. */
export const toolsets = [
  route('GET /:base_id/toolsets', {
    tag: 'Toolsets',
    summary: 'List toolsets',
    need: onBase('read'),
    params: params.pick({ base_id: true }),
    query: pageQuery,
    operation: graphql(
      `query ListToolsets($base: String!, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
        toolsets(base: $base, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { ...ToolsetFields } hasMore truncated limit offset total nextCursor
        }
      }`,
      [ToolsetFields],
    ),
    variables: ({ params, query }) => ({
      base: params.base_id,
      ...pageOf(query),
    }),
    reply: ({ toolsets }) => ({ body: pageBody(toolsets) }),
    answers: listOf(Toolset),
  }),
  route('PUT /:base_id/toolsets/:id', {
    tag: 'Toolsets',
    summary: 'Create a toolset or replace it',
    need: onBase('manage'),
    params,
    body: ToolsetPut,
    versioned: true,
    operation: graphql(
      `mutation PutToolset($base: String!, $id: String!, $input: ToolsetInput!,
        $expectedVersions: [Int!], $mustExist: Boolean, $mustBeAbsent: Boolean) {
        putToolset(base: $base, id: $id, input: $input,
          expectedVersions: $expectedVersions, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent) {
          ...ToolsetFields operation dry_run: dryRun
        }
      }`,
      [ToolsetFields],
    ),
    variables: ({ params, body, conditions }) => {
      const { id: _id, expected_version: _version, ...input } = body
      return { base: params.base_id, id: params.id, input, ...conditions }
    },
    reply: ({ putToolset }, { params }) => ({
      status: putToolset.operation === 'created' ? 201 : 200,
      location: `/v1/${params.base_id}/toolsets/${putToolset.id}`,
      body: trim(without(putToolset, 'operation')),
    }),
    statuses: [200, 201],
    answers: Toolset,
  }),
  route('GET /:base_id/toolsets/:id', {
    tag: 'Toolsets',
    summary: 'Get a toolset',
    need: onBase('read'),
    params,
    operation: graphql(
      `query GetToolset($base: String!, $id: String!) { toolset(base: $base, id: $id) { ...ToolsetFields } }`,
      [ToolsetFields],
    ),
    variables: ({ params }) => ({ base: params.base_id, id: params.id }),
    reply: ({ toolset }) => ({ body: toolset }),
    answers: Toolset,
  }),
  route('DELETE /:base_id/toolsets/:id', {
    tag: 'Toolsets',
    summary: 'Delete a toolset that no endpoint has',
    need: onBase('manage'),
    params,
    versioned: true,
    operation: graphql(`mutation DeleteToolset($base: String!, $id: String!, $expectedVersions: [Int!]) {
      deleteToolset(base: $base, id: $id, expectedVersions: $expectedVersions) { id deleted dry_run: dryRun }
    }`),
    variables: ({ params, conditions }) => ({
      base: params.base_id,
      id: params.id,
      expectedVersions: conditions.expectedVersions,
    }),
    reply: ({ deleteToolset }) => ({ body: trim(deleteToolset) }),
    answers: Deleted,
  }),
]
