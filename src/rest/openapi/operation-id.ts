/** Names of operations, which generators of clients use for methods. */

/** Parameters that belong to the collection before them: `/records/:record_type` is a list. */
const SCOPES = new Set([':base_id', ':record_type', ':file_type', ':account_id'])

const OF_LIST: Readonly<Record<string, string>> = { GET: 'list', POST: 'create', PUT: 'upsert' }
const OF_ONE: Readonly<Record<string, string>> = {
  GET: 'get',
  PUT: 'upsert',
  PATCH: 'update',
  DELETE: 'delete',
}

/** Operations that the rule does not name well. */
const NAMED: Readonly<Record<string, string>> = {
  'GET /:base_id/openapi.json': 'bases.openapi',
  'POST /:base_id/preview': 'previews.create',
  'POST /:base_id/promote': 'promotions.create',
  'POST /:base_id/promote/proposal': 'promotions.propose',
  'POST /:base_id/promote/rollback': 'promotions.rollBack',
  'GET /:base_id/config': 'config.get',
  'PUT /:base_id/config': 'config.apply',
  'PUT /:base_id/records/:record_type': 'records.upsertByExternalId',
  'POST /:base_id/records/:record_type/:id/attachments': 'attachments.create',
  'GET /:base_id/records/:record_type/:id/attachments': 'attachments.list',
  'GET /:base_id/records/:record_type/:id/attachments/:filename': 'attachments.get',
  'DELETE /:base_id/records/:record_type/:id/attachments/:attachment_id': 'attachments.delete',
  'POST /:base_id/batch': 'batch.run',
  'PUT /:base_id/relationships': 'relationships.upsertByEnds',
  'DELETE /:base_id/relationships': 'relationships.deleteByEnds',
  'GET /:base_id/files': 'files.search',
  'PUT /:base_id/files/:file_type/*': 'files.upload',
  'GET /:base_id/files/:file_type/*': 'files.download',
  'POST /:base_id/revert': 'changes.revertAll',
  'GET /:base_id/trash': 'trash.list',
  'POST /:base_id/records/:record_type/claim': 'claims.create',
  'POST /:base_id/claims/heartbeat': 'claims.heartbeatAll',
  'POST /:base_id/claims/release': 'claims.releaseAll',
  'POST /:base_id/claims/complete': 'claims.completeAll',
  'GET /:base_id/wait/:record_type': 'records.wait',
  'POST /accounts/:account_id/query': 'records.queryAcrossBases',
  'POST /:base_id/sql': 'sql.query',
  'POST /:base_id/providers/:provider/import': 'providers.import',
  'GET /:base_id/providers/:provider/export': 'providers.export',
  'POST /:base_id/providers/:provider/records/:record_type': 'providers.call',
  'GET /:base_id/mcp/tools': 'mcp.listTools',
  'GET /tokens/self': 'tokens.self',
  'POST /tokens/self/sign-in-codes': 'tokens.createSignInCode',
  'GET /vault/secrets': 'secrets.list',
  'GET /vault/secrets/:name': 'secrets.get',
  'PUT /vault/secrets/:name': 'secrets.upsert',
  'DELETE /vault/secrets/:name': 'secrets.delete',
  'GET /:base_id/actions/:id/runs': 'actionRuns.list',
  'GET /:base_id/actions/:id/runs/:run_id': 'actionRuns.get',
  'GET /:base_id/triggers/:id/deliveries': 'triggerDeliveries.list',
  'POST /:base_id/triggers/:id/deliveries/:delivery_id/replay': 'triggerDeliveries.replay',
  'GET /:base_id/inbound-webhooks/:id/deliveries': 'inboundDeliveries.list',
  'POST /:base_id/inbound-webhooks/:id/deliveries/:delivery_id/replay': 'inboundDeliveries.replay',
}

/** The name of a route, such as `records.query` for `POST /:base_id/records/:record_type/query`. */
export function operationId(method: string, path: string): string {
  const named = NAMED[`${method} ${path}`]
  if (named) return named
  const [noun = '', ...rest] = path.split('/').filter((part) => part !== '' && !SCOPES.has(part))
  const verb = rest.at(-1) ?? ''
  const isOne = verb.startsWith(':') || verb === '*'
  const name = rest.length === 0 ? OF_LIST[method] : isOne ? OF_ONE[method] : camel(verb)
  if (!name) throw new Error(`${method} ${path} needs a name in NAMED`)
  return `${camel(noun)}.${name}`
}

const camel = (text: string) => text.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
