/** REST routes for earlier versions of records. */
import { z } from 'zod'
import { graphql } from '../graphql/document.ts'
import { Change, ChangeFields } from './changes.ts'
import { NewSecrets } from './config.ts'
import { byName } from './route/by-name.ts'
import { listOf } from './route/page.ts'
import { flag, pageQuery } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import {
  anywhere,
  baseId,
  changeSeq,
  onType,
  ProposedBy,
  recordId,
  typeId,
  versionShape,
} from './route/shapes.ts'

const Version = versionShape(
  ['create', 'update', 'cancel', 'delete', 'restore'],
  'RFC 6902 diff of `{ data, status, external_id, external_source }` from the previous version. A creation adds the whole, a deletion removes it.',
)
  .extend({ proposed: ProposedBy })
  .meta({ id: 'RecordVersion' })

export const history = tagged('History', [
  route('GET /:base_id/records/:record_type/:id/history', {
    summary: 'List the versions of a record, newest first, also after its deletion',
    need: onType('read'),
    params: z.strictObject({ base_id: baseId(), record_type: typeId, id: recordId }),
    query: pageQuery,
    cuts: true,
    operation: graphql(
      `query RecordHistory($base: String!, $recordType: String!, $id: String!, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
        page: recordHistory(base: $base, recordType: $recordType, id: $id, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { version operation at actor { token_id: tokenId name kind via } request_id: requestId call { id tool endpoint client trace_id: traceId } seq cause diff proposed { token_id: tokenId name kind request_id: requestId call { id tool endpoint client trace_id: traceId } } }
          hasMore truncated limit offset total nextCursor
        }
      }`,
    ),
    answers: listOf(Version),
  }),
])

const Reverting = Change.extend({ secrets: NewSecrets, dry_run: z.literal(true).optional() }).meta({
  id: 'Reverting',
})

export const revert = tagged('History', [
  route('POST /:base_id/changes/:seq/revert', {
    summary:
      'Revert a change of a record, a relationship or configuration: restore the state before the change',
    need: anywhere('write'),
    params: z.strictObject({
      base_id: baseId(),
      seq: changeSeq,
    }),
    query: z.strictObject({
      force: flag('Also if later changes followed: they are reverted too.'),
      on_invalid: z.enum(['allow']).optional().meta({
        description: '`allow`: keep data that violates the restored schema, flagged `valid: false`.',
      }),
      confirm: z.string().optional().meta({
        description: 'The id of a type. Required to revert its creation if it is not empty.',
      }),
    }),
    operation: graphql(
      `mutation RevertChange($base: String!, $seq: Float!, $force: Boolean, $allowInvalid: Boolean, $confirm: String) {
        revertChange(base: $base, seq: $seq, force: $force, allowInvalid: $allowInvalid, confirm: $confirm) {
          ...ChangeFields secrets dry_run: dryRun
        }
      }`,
      [ChangeFields],
    ),
    variables: (parts) => ({ ...byName(parts), allowInvalid: parts.query.on_invalid === 'allow' }),
    answers: Reverting,
  }),
])
