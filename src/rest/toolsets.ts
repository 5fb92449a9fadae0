import { ToolsetBody } from '../contract/endpoint-shapes.ts'
import { graphql } from '../graphql/document.ts'
import { answerOf, crud } from './route/crud.ts'

const ToolsetFields = graphql(`fragment ToolsetFields on Toolset {
  id name description tools version created_at: createdAt updated_at: updatedAt
}`)

/** REST routes of toolsets. */
export const toolsets = crud('/:base_id/toolsets', {
  tag: 'Toolsets',
  label: 'A toolset',
  body: ToolsetBody,
  answers: answerOf('Toolset', ToolsetBody),
  list: graphql(
    `query ListToolsets($base: String!, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
      page: toolsets(base: $base, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
        data { ...ToolsetFields } hasMore truncated limit offset total nextCursor
      }
    }`,
    [ToolsetFields],
  ),
  get: graphql(
    'query GetToolset($base: String!, $id: String!, $version: Int) { found: toolset(base: $base, id: $id, version: $version) { ...ToolsetFields } }',
    [ToolsetFields],
  ),
  put: graphql(
    `mutation PutToolset($base: String!, $id: String!, $input: ToolsetInput!,
      $expectedVersions: [Int!], $mustExist: Boolean, $mustBeAbsent: Boolean) {
      written: putToolset(base: $base, id: $id, input: $input,
        expectedVersions: $expectedVersions, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent) {
        ...ToolsetFields operation dry_run: dryRun
      }
    }`,
    [ToolsetFields],
  ),
  patch: graphql(
    `mutation PatchToolset($base: String!, $id: String!, $merge: JSON, $operations: JSON, $expectedVersions: [Int!], $mustExist: Boolean) {
      written: patchToolset(base: $base, id: $id, merge: $merge, operations: $operations,
        expectedVersions: $expectedVersions, mustExist: $mustExist) {
        ...ToolsetFields dry_run: dryRun
      }
    }`,
    [ToolsetFields],
  ),
  remove: graphql(`mutation DeleteToolset($base: String!, $id: String!, $expectedVersions: [Int!]) {
    gone: deleteToolset(base: $base, id: $id, expectedVersions: $expectedVersions) { id deleted dry_run: dryRun }
  }`),
  removes: 'a toolset that no endpoint uses',
})
