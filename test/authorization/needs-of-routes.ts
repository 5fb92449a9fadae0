/** What each REST route needs for its sample request in a filled base (route-samples.ts). */
import {
  administers,
  both,
  covers,
  either,
  everywhere,
  has,
  inPreviews,
  inProduction,
  isPreview,
  isProduction,
  known,
  open,
  reaches,
  sight,
} from '../support/oracle.ts'
import { group as groupOf, type Rule } from './matrix.ts'

const readType = has('read', 'task')
const writeType = has('write', 'task')
const readLinked = has('read', 'collections')
const writeLinked = has('write', 'collections')
const [read, write, manage] = [has('read', '*'), has('write', '*'), has('manage', '*')]

/** A route a line: its name has a space. */
const group = (rule: Rule, routes: string) => groupOf(rule, routes, /\s*\n\s*/)

const kind = (noun: string): [string, Rule][] => [
  ...group(
    { need: read },
    `GET /:base_id/${noun}
    GET /:base_id/${noun}/:id
    GET /:base_id/${noun}/:id/history`,
  ),
  ...group(
    { need: manage },
    `PUT /:base_id/${noun}/:id
    PATCH /:base_id/${noun}/:id
    DELETE /:base_id/${noun}/:id`,
  ),
]

export const ROUTE_NEEDS: ReadonlyMap<string, Rule> = new Map([
  ...['toolsets', 'endpoints', 'seeds', 'actions', 'triggers', 'inbound-webhooks', 'file-types'].flatMap(
    kind,
  ),
  ...group(
    { need: open },
    `GET /bases
    GET /tokens/self
    POST /tokens/self/sign-in-codes`,
  ),
  ...group(
    { need: administers },
    `GET /tokens
    GET /vault/secrets`,
  ),
  ...group(
    { need: known },
    `GET /bases/:id
    GET /:base_id/calls
    GET /:base_id/usage`,
  ),
  ...group(
    { need: sight },
    `GET /:base_id/openapi.json
    GET /:base_id/record-types
    GET /:base_id/relationship-types
    GET /:base_id/relationship-types/:id
    GET /:base_id/relationship-types/:id/history
    GET /:base_id/relationships
    GET /:base_id/claims
    GET /:base_id/changes
    GET /:base_id/mcp/tools
    GET /:base_id/providers/:provider/export`,
  ),
  ...group({ need: reaches('desk') }, `GET /:base_id/endpoints/:id/resolved`),
  ...group({ need: either(sight, inPreviews(sight)) }, `GET /:base_id/previews`),
  ...group(
    { need: readType },
    `GET /:base_id/record-types/:id
    GET /:base_id/record-types/:id/history
    GET /:base_id/record-types/:id/infer
    GET /:base_id/record-types/:id/profile
    GET /:base_id/records/:record_type
    POST /:base_id/records/:record_type/query
    GET /:base_id/records/:record_type/:id
    GET /:base_id/records/:record_type/:id/history
    GET /:base_id/records/:record_type/:id/related
    GET /:base_id/records/:record_type/:id/attachments
    GET /:base_id/records/:record_type/:id/attachments/:filename
    POST /:base_id/records/:record_type/aggregate
    GET /:base_id/wait/:record_type
    GET /:base_id/trash
    POST /accounts/:account_id/query`,
  ),
  ...group(
    { need: readType, hides: 'id' },
    `GET /:base_id/claims/:id
    GET /:base_id/changes/:seq/trace`,
  ),
  ...group({ need: readLinked, hides: 'id' }, `GET /:base_id/relationships/:id`),
  ...group(
    { need: has('manage', 'task') },
    `PUT /:base_id/record-types/:id
    PATCH /:base_id/record-types/:id
    DELETE /:base_id/record-types/:id`,
  ),
  ...group({ need: has('manage', 'look') }, `POST /:base_id/providers/:provider/import`),
  ...group(
    { need: writeType, proposes: true },
    `PUT /:base_id/records/:record_type
    POST /:base_id/records/:record_type
    PUT /:base_id/records/:record_type/:id
    PATCH /:base_id/records/:record_type/:id
    DELETE /:base_id/records/:record_type/:id
    POST /:base_id/records/:record_type/:id/cancel
    POST /:base_id/records/:record_type/:id/restore
    POST /:base_id/batch`,
  ),
  ...group(
    { need: writeType },
    `POST /:base_id/records/:record_type/:id/attachments
    DELETE /:base_id/records/:record_type/:id/attachments/:attachment_id
    POST /:base_id/records/:record_type/claim
    POST /:base_id/providers/:provider/records/:record_type`,
  ),
  ...group(
    { need: writeType, hides: 'id' },
    `POST /:base_id/claims/:id/heartbeat
    POST /:base_id/claims/:id/release
    POST /:base_id/claims/:id/complete
    POST /:base_id/changes/:seq/revert
    POST /:base_id/revert`,
  ),
  ...group(
    { need: writeLinked, proposes: true },
    `PUT /:base_id/relationships
    POST /:base_id/relationships`,
  ),
  ...group(
    { need: writeLinked, proposes: true, hides: 'id' },
    `PUT /:base_id/relationships/:id
    DELETE /:base_id/relationships/:id
    DELETE /:base_id/relationships`,
  ),
  ...group(
    { need: read },
    `GET /:base_id/promotions
    GET /:base_id/promotions/:id
    POST /:base_id/review-requests
    GET /:base_id/review-requests
    GET /:base_id/review-requests/:id
    GET /:base_id/config
    POST /:base_id/config/diff
    GET /:base_id/files/:file_type
    GET /:base_id/files
    GET /:base_id/files/:file_type/*
    POST /:base_id/s3-credentials
    GET /:base_id/s3-credentials
    DELETE /:base_id/s3-credentials/:id
    GET /:base_id/deliveries
    GET /:base_id/actions/:id/runs
    GET /:base_id/actions/:id/runs/:run_id
    GET /:base_id/triggers/:id/deliveries
    GET /:base_id/inbound-webhooks/:id/deliveries`,
  ),
  ...group({ need: read, proposes: true }, `POST /:base_id/actions/:id/run`),
  ...group(
    { need: write },
    `POST /:base_id/review-requests/:id/decision
    POST /:base_id/tokens/:id/pause
    POST /:base_id/tokens/:id/resume
    PATCH /:base_id/files/:file_type/*
    DELETE /:base_id/files/:file_type/*
    PUT /:base_id/files/:file_type/*`,
  ),
  ...group(
    { need: manage },
    `PUT /bases/:id
    PATCH /:base_id/relationship-types/:id
    PUT /:base_id/relationship-types/:id
    DELETE /:base_id/relationship-types/:id
    POST /:base_id/deliveries/replay
    POST /:base_id/seeds/:name/apply
    POST /:base_id/seeds/:name/reset
    POST /:base_id/seeds/:name/clear
    POST /:base_id/triggers/:id/deliveries/:delivery_id/replay
    POST /:base_id/triggers/:id/test
    POST /:base_id/triggers/:id/rotate-secret
    POST /:base_id/inbound-webhooks/:id/deliveries/:delivery_id/replay
    POST /:base_id/inbound-webhooks/:id/rotate-secret`,
  ),
  ...group(
    { need: has('admin', '*') },
    `GET /:base_id/export
    PUT /bases/:id/import`,
  ),
  ...group(
    { need: either(both(isProduction, has('admin', '*')), both(isPreview, manage, inProduction(read))) },
    `DELETE /bases/:id`,
  ),
  ...group(
    { need: has('read', 'any') },
    `POST /:base_id/reviews
    GET /:base_id/reviews`,
  ),
  ...group({ need: both(has('read', '*'), inPreviews(manage)) }, `POST /:base_id/preview`),
  // An id of the other environment is refused by its form, before rights on it are looked at.
  ...group(
    {
      need: either(
        both(isProduction, has('read', 'any'), inPreviews(has('write', 'any'))),
        both(isPreview, inProduction(read), write),
      ),
    },
    `POST /:base_id/submit`,
  ),
  ...group(
    {
      need: either(
        both(isPreview, has('write', 'any')),
        both(isProduction, has('admin', '*'), inPreviews(read)),
      ),
    },
    `POST /:base_id/promote`,
  ),
  ...group({ need: has('admin', '*') }, `POST /:base_id/promote/rollback`),
  ...group(
    { need: either(both(isPreview, has('read', 'any')), both(isProduction, read, inPreviews(read))) },
    `POST /:base_id/promote/proposal`,
  ),
  ...group(
    { need: has('write', 'any'), proposes: true },
    `POST /:base_id/discard
    POST /:base_id/reopen`,
  ),
  ...group({ need: both(manage, isPreview) }, `PUT /:base_id/config`),
  ...group(
    { need: writeType, hides: 'ids' },
    `POST /:base_id/claims/heartbeat
    POST /:base_id/claims/release
    POST /:base_id/claims/complete`,
  ),
  ...group({ need: readType, hides: 'relation' }, `POST /:base_id/sql`),
  ...group({ need: writeType, hides: 'relation', proposes: true }, `POST /:base_id/sql/execute`),
  ...group({ need: both(administers, covers('read')) }, `POST /tokens`),
  ...group(
    { need: covers('admin') },
    `GET /tokens/:id
    DELETE /tokens/:id`,
  ),
  ...group(
    { need: everywhere('admin') },
    `POST /tokens/rotate-admin
    PUT /vault/secrets/:name
    GET /vault/secrets/:name
    DELETE /vault/secrets/:name
    POST /vault/rotate
    GET /diagnostics`,
  ),
])
