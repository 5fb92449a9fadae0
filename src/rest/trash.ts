/** REST route that lists restorable deleted records. */
import { z } from 'zod'
import { pageBody } from '../contract/response-bodies.ts'
import { graphql } from '../graphql/document.ts'
import { RecordFields } from './records/fragments.ts'
import { Record } from './records/shapes.ts'
import { byName } from './route/by-name.ts'
import { listOf } from './route/page.ts'
import { includeTitles, pageQuery, title } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { Actor, baseAccess, baseId, time, typeId } from './route/shapes.ts'

const TrashedRecord = Record.omit({ operation: true, dry_run: true })
  .extend({
    title,
    deleted_at: time,
    deleted_by: Actor,
    expires_at: time.meta({ description: 'The time from which it can no longer be restored.' }),
  })
  .meta({ id: 'TrashedRecord' })

export const trash = tagged('History', [
  route('GET /:base_id/trash', {
    summary: 'List the deleted records that can be restored, most recently deleted first',
    need: baseAccess,
    params: z.strictObject({ base_id: baseId() }),
    query: pageQuery.extend({
      include: includeTitles,
      record_type: typeId.optional().meta({ description: 'Only records of this type.' }),
    }),
    cuts: true,
    operation: graphql(
      `query ListTrash($base: String!, $recordType: String, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean, $withTitles: Boolean!) {
        trash(base: $base, recordType: $recordType, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { record { ...RecordFields } title @include(if: $withTitles) deleted_at: deletedAt deleted_by: deletedBy { token_id: tokenId name kind via } expires_at: expiresAt }
          hasMore truncated limit offset total nextCursor
        }
      }`,
      [RecordFields],
    ),
    variables: (parts) => ({ ...byName(parts), withTitles: parts.query.include !== undefined }),
    reply: ({ trash }) => ({
      body: pageBody({ ...trash, data: trash.data.map(({ record, ...gone }) => ({ ...record, ...gone })) }),
    }),
    answers: listOf(TrashedRecord),
  }),
])
