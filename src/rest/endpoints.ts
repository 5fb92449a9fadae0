import { EndpointBody } from '../contract/endpoint-shapes.ts'
import { graphql } from '../graphql/document.ts'
import { answerOf, crud } from './route/crud.ts'

/** An endpoint in responses. */
export const Endpoint = answerOf('Endpoint', EndpointBody)

/** The fields of an endpoint in responses. */
const EndpointFields = graphql(`fragment EndpointFields on Endpoint {
  id name description instructions toolsets tools relationships batch actions sql_query: sqlQuery undo resources enabled
  version created_at: createdAt updated_at: updatedAt
}`)

/** REST routes of endpoints. */
export const endpoints = crud('/:base_id/endpoints', {
  tag: 'Endpoints',
  label: 'An endpoint',
  body: EndpointBody,
  answers: Endpoint,
  list: graphql(
    `query ListEndpoints($base: String!, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
      page: endpoints(base: $base, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
        data { ...EndpointFields } hasMore truncated limit offset total nextCursor
      }
    }`,
    [EndpointFields],
  ),
  get: graphql(
    'query GetEndpoint($base: String!, $id: String!, $version: Int) { found: endpoint(base: $base, id: $id, version: $version) { ...EndpointFields } }',
    [EndpointFields],
  ),
  put: graphql(
    `mutation PutEndpoint($base: String!, $id: String!, $input: EndpointInput!,
      $expectedVersions: [Int!], $mustExist: Boolean, $mustBeAbsent: Boolean) {
      written: putEndpoint(base: $base, id: $id, input: $input,
        expectedVersions: $expectedVersions, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent) {
        ...EndpointFields operation warnings dry_run: dryRun
      }
    }`,
    [EndpointFields],
  ),
  patch: graphql(
    `mutation PatchEndpoint($base: String!, $id: String!, $merge: JSON, $operations: JSON, $expectedVersions: [Int!], $mustExist: Boolean) {
      written: patchEndpoint(base: $base, id: $id, merge: $merge, operations: $operations,
        expectedVersions: $expectedVersions, mustExist: $mustExist) {
        ...EndpointFields dry_run: dryRun
      }
    }`,
    [EndpointFields],
  ),
  remove: graphql(`mutation DeleteEndpoint($base: String!, $id: String!, $expectedVersions: [Int!]) {
    gone: deleteEndpoint(base: $base, id: $id, expectedVersions: $expectedVersions) { id deleted dry_run: dryRun }
  }`),
})
