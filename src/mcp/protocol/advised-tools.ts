import type { RequestNames } from '../../foundation/advised-requests.ts'

/** How error messages name requests to MCP clients: by tool, never by a path of the HTTP API. */
export const MCP_REQUESTS: RequestNames = {
  cancel_record: 'cancel_record',
  claim_records: 'work',
  create_preview: 'preview with the action "create"',
  delete_base: 'delete_definition',
  delete_preview: 'preview with the action "delete"',
  history: 'record_history',
  idempotency_key: 'idempotency_key',
  list_bases: 'list_bases',
  list_changes: 'changes',
  list_claims: 'sql_query on the relation claims',
  list_previews: 'preview with the action "list"',
  list_records: 'query_records',
  list_tokens: 'the list of tokens',
  move_link:
    'write the relationship with "replace": true (link_records, or upsert_relationship in a batch); delete_relationship removes it',
  own_token: 'whoami',
  put_record_type: 'define',
  put_relationship_type: 'define',
  restore_record: 'undo',
  search_records: 'the operator "search" of query_records',
  write_sql: 'sql_write',
}

/** The same where only the tools of the profile `lean` are listed. */
export const LEAN_REQUESTS: RequestNames = {
  ...MCP_REQUESTS,
  cancel_record: 'cancel_record (record_type, id)',
  history: 'sql_query on the relation changes',
  list_changes: 'sql_query on the relation changes',
  list_records: 'sql_query',
  move_link: 'UPDATE relationships SET source_id or target_id',
  search_records: 'the tool search',
}
