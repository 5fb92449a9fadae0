/** REST routes of previews. A preview is a base: it is read, changed and deleted as one. */
import { z } from 'zod'
import { CHANGE_SET_STATES, LISTED_COPIES, LISTED_STATES } from '../contract/change-set-shapes.ts'
import { anyPreviewOf, productionOf } from '../contract/ids.ts'
import { trim } from '../contract/response-bodies.ts'
import { PreviewBody } from '../contract/shapes.ts'
import { graphql } from '../graphql/document.ts'
import { Base, BaseFields } from './bases.ts'
import { listOf } from './route/page.ts'
import { pageQuery } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { baseId } from './route/shapes.ts'

const params = z.strictObject({ base_id: baseId() })

export const previews = tagged('Environments', [
  route('POST /:base_id/preview', {
    summary: 'Create a preview: a base of its own with the same configuration, or a change-set',
    // A change-set needs no more. What copies needs `manage`.
    need: ({ base_id = '' }) => ({
      all: [
        { permission: 'read', anyOf: base_id },
        { permission: 'write', anyOf: anyPreviewOf(productionOf(base_id)) },
      ],
    }),
    params,
    body: PreviewBody,
    operation: graphql(
      `mutation CreatePreview($base: String!, $input: PreviewInput!) {
        createPreview(base: $base, input: $input) { ...BaseFields dry_run: dryRun }
      }`,
      [BaseFields],
    ),
    variables: ({ params, body }) => ({ base: params.base_id, input: body }),
    reply: ({ createPreview }) => ({
      status: 201,
      location: `/v1/bases/${createPreview.id}`,
      body: trim(createPreview),
    }),
    statuses: [201],
    answers: Base,
  }),
  route('GET /:base_id/previews', {
    summary: 'List the previews of a base, newest first',
    // A token for previews sees them without a grant on production.
    need: ({ base_id = '' }) => ({ baseAccess: base_id, orPreviews: true }),
    params,
    query: pageQuery.extend({
      state: z.enum(LISTED_STATES).optional().meta({
        description:
          '`open`: only change-sets that take writes. `closed`: only those that take none any more.',
      }),
      status: z.enum(CHANGE_SET_STATES).optional().meta({ description: 'Only change-sets in this state.' }),
      copy: z.enum(LISTED_COPIES).optional().meta({
        description: '`on_write`: only change-sets. `config`: only previews that copy the configuration.',
      }),
      created_by: z.string().optional().meta({
        description: 'Only change-sets that the token with this id opened.',
      }),
      record_type: z.string().optional().meta({
        description: 'With `record_id`: only change-sets that change this record or its relationships.',
      }),
      record_id: z.string().optional().meta({ description: 'The id of the record.' }),
    }),
    operation: graphql(
      `query ListPreviews($base: String!, $state: ListedState, $status: ChangeSetStatus, $copy: ListedCopy, $createdBy: String, $recordType: String, $recordId: String, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
        page: previews(base: $base, state: $state, status: $status, copy: $copy, createdBy: $createdBy, recordType: $recordType, recordId: $recordId, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { ...BaseFields } hasMore truncated limit offset total nextCursor
        }
      }`,
      [BaseFields],
    ),
    answers: listOf(Base),
  }),
])
