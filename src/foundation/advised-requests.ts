/**
 * Requests that error messages advise. A message holds a placeholder, and each surface fills in its own names:
 * the HTTP API a method and a path, MCP a tool.
 */

/** The requests of the HTTP API, which the other HTTP surfaces share. */
export const HTTP_REQUESTS = {
  cancel_record: 'POST /v1/{base_id}/records/{record_type}/{id}/cancel',
  claim_records: 'POST /v1/{base_id}/records/{record_type}/claim',
  create_preview: 'POST /v1/{base_id}/preview',
  delete_base: 'DELETE /v1/bases/{base_id}',
  delete_preview: 'DELETE /v1/bases/{base_id}',
  history: 'GET /v1/{base_id}/records/{record_type}/{id}/history',
  idempotency_key: 'Idempotency-Key',
  list_bases: 'GET /v1/bases',
  list_changes: 'GET /v1/{base_id}/changes',
  list_claims: 'GET /v1/{base_id}/claims',
  list_previews: 'GET /v1/{base_id}/previews',
  list_records: 'GET /v1/{base_id}/records/{record_type}',
  list_tokens: 'GET /v1/tokens',
  move_link:
    'write the relationship with "replace": true (upsert_relationship in a batch); delete_relationship removes it',
  own_token: 'GET /v1/tokens/self',
  put_record_type: 'PUT /v1/{base_id}/record-types/{id}',
  put_relationship_type: 'PUT /v1/{base_id}/relationship-types/{id}',
  restore_record: 'POST /v1/{base_id}/records/{record_type}/{id}/restore',
  search_records: 'the operator "search" of a filter',
  write_sql: 'POST /v1/{base_id}/sql/execute',
} as const

type AdvisedRequest = keyof typeof HTTP_REQUESTS
export type RequestNames = Readonly<Record<AdvisedRequest, string>>

/** The placeholder of a request. Text of a caller may look the same: it is then replaced too, by constant text. */
export const advised = (name: AdvisedRequest): string => `<<${name}>>`

const PLACEHOLDER = /<<([a-z_]{1,32})>>/g

/** Fills in the placeholders of a message. */
export const nameRequests = (message: string, names: RequestNames): string =>
  message.replace(PLACEHOLDER, (whole, name: string) =>
    Object.hasOwn(names, name) ? names[name as AdvisedRequest] : whole,
  )
