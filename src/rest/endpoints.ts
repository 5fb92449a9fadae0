import { z } from 'zod'
import { EndpointBody, EndpointPut } from '../contract/endpoint-shapes.ts'
import { pageBody, trim } from '../contract/response-bodies.ts'
import { graphql } from '../graphql/document.ts'
import { listOf, without } from './page.ts'
import { pageOf, pageQuery } from './query.ts'
import { route } from './route.ts'
import { baseId, Deleted, endpointId, onBase, time } from './shapes.ts'

/** An endpoint as it is answered. */
export const Endpoint = EndpointBody.required()
  .extend({
    id: z.string(),
    version: z.int(),
    created_at: time,
    updated_at: time,
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'Endpoint' })

/** What of an endpoint is answered. */
export const EndpointFields = graphql(`fragment EndpointFields on Endpoint {
  id name description instructions toolsets tools relationships batch sql_query: sqlQuery resources enabled
  version created_at: createdAt updated_at: updatedAt
}`)

const params = z.strictObject({ base_id: baseId(), id: endpointId })

/** The rows of endpoints. */
export const endpoints = [
  route('GET /:base_id/endpoints', {
    tag: 'Endpoints',
    summary: 'List endpoints',
    need: onBase('read'),
    params: params.pick({ base_id: true }),
    query: pageQuery,
    operation: graphql(
      `query ListEndpoints($base: String!, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
        endpoints(base: $base, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { ...EndpointFields } hasMore truncated limit offset total nextCursor
        }
      }`,
      [EndpointFields],
    ),
    variables: ({ params, query }) => ({
      base: params.base_id,
      ...pageOf(query),
    }),
    reply: ({ endpoints }) => ({ body: pageBody(endpoints) }),
    answers: listOf(Endpoint),
  }),
  route('PUT /:base_id/endpoints/:id', {
    tag: 'Endpoints',
    summary: 'Create an endpoint or replace it',
    need: onBase('manage'),
    params,
    body: EndpointPut,
    versioned: true,
    operation: graphql(
      `mutation PutEndpoint($base: String!, $id: String!, $input: EndpointInput!,
        $expectedVersions: [Int!], $mustExist: Boolean, $mustBeAbsent: Boolean) {
        putEndpoint(base: $base, id: $id, input: $input,
          expectedVersions: $expectedVersions, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent) {
          ...EndpointFields operation dry_run: dryRun
        }
      }`,
      [EndpointFields],
    ),
    variables: ({ params, body, conditions }) => {
      const { id: _id, expected_version: _version, sql_query, ...fields } = body
      return {
        base: params.base_id,
        id: params.id,
        input: { ...fields, ...(sql_query !== undefined && { sqlQuery: sql_query }) },
        ...conditions,
      }
    },
    reply: ({ putEndpoint }, { params }) => ({
      status: putEndpoint.operation === 'created' ? 201 : 200,
      location: `/v1/${params.base_id}/endpoints/${putEndpoint.id}`,
      body: trim(without(putEndpoint, 'operation')),
    }),
    statuses: [200, 201],
    answers: Endpoint,
  }),
  route('GET /:base_id/endpoints/:id', {
    tag: 'Endpoints',
    summary: 'Get an endpoint',
    need: onBase('read'),
    params,
    operation: graphql(
      `query GetEndpoint($base: String!, $id: String!) { endpoint(base: $base, id: $id) { ...EndpointFields } }`,
      [EndpointFields],
    ),
    variables: ({ params }) => ({ base: params.base_id, id: params.id }),
    reply: ({ endpoint }) => ({ body: endpoint }),
    answers: Endpoint,
  }),
  route('DELETE /:base_id/endpoints/:id', {
    tag: 'Endpoints',
    summary: 'Delete an endpoint',
    need: onBase('manage'),
    params,
    versioned: true,
    operation: graphql(`mutation DeleteEndpoint($base: String!, $id: String!, $expectedVersions: [Int!]) {
      deleteEndpoint(base: $base, id: $id, expectedVersions: $expectedVersions) { id deleted dry_run: dryRun }
    }`),
    variables: ({ params, conditions }) => ({
      base: params.base_id,
      id: params.id,
      expectedVersions: conditions.expectedVersions,
    }),
    reply: ({ deleteEndpoint }) => ({ body: trim(deleteEndpoint) }),
    answers: Deleted,
  }),
]
