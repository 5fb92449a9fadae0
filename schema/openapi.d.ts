// Printed from openapi.json: npm run print
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
export type Data = { [name: string]: Json }
/** A step of a JSON Patch, with the value before it. */
export type Step = { op: 'add' | 'replace' | 'remove'; path: string; value?: Json; before?: Json }

export type Base = {
  id: string
  name: string
  description: string | null
  environment: "production" | "preview"
  production_base: string | null
  settings: BaseSettings
  change_set: {
    title: string | null
    status: "open" | "submitted" | "approved" | "changes_requested" | "merged" | "rejected" | "expired"
    revision: number
    created_by: string | null
    created_by_name: string
    written_at: string
    closed_at: string | null
    approvals: {
      needed: number
      given: number
    }
    counts: {
      create: number
      update: number
      delete: number
    }
  } | null
  version: number
  created_at: string
  updated_at: string
  counts?: {
    record_types: number
    records: number
  }
  dry_run?: true
}

export type BaseSettings = {
  schema_changes?: "direct" | "preview_only"
  history_days?: number | null
  trash_days?: number
  calls_days?: number
  call_arguments?: boolean
  change_sets?: {
    approvals?: number
    self_approval?: boolean
    expire_days?: number
  }
}

export type ListMeta = {
  has_more?: boolean
  truncated?: true
  limit: number
  offset: number
  total?: number
  next_cursor?: string
  hint?: string
}

export type Deleted = {
  id: string
  deleted: true
  deletion?: Deletion
  dry_run?: true
}

export type Deletion = {
  bases?: {
    count: number
    names: string[]
  }
  record_types?: {
    count: number
    names: string[]
  }
  relationship_types?: {
    count: number
    names: string[]
  }
  file_types?: {
    count: number
    names: string[]
  }
  records?: {
    count: number
    by_type: { [name: string]: number }
  }
  relationships?: {
    count: number
    by_type: { [name: string]: number }
  }
  files?: {
    count: number
    by_type: { [name: string]: number }
  }
  attachments?: {
    count: number
    by_type: { [name: string]: number }
  }
  samples?: string[]
  titles?: (string | null)[]
}

export type ImportedBase = {
  base: Base
  counts: { [name: string]: number }
  secrets?: ({
    kind: "record_type" | "relationship_type" | "file_type" | "trigger" | "inbound_webhook" | "endpoint" | "toolset" | "action" | "seed"
    id: string
    secret: string | null
  })[]
  disabled_triggers: string[]
  dry_run?: true
}

export type Promotion = {
  id: string | null
  kind: "promotion" | "rollback"
  from: string
  base_id: string
  status: "applied" | "rolled_back"
  changes: ConfigurationChange[]
  conflicts: ({
    kind: "record_type" | "relationship_type" | "file_type" | "trigger" | "inbound_webhook" | "endpoint" | "toolset" | "action" | "seed" | "record" | "relationship"
    id: string
    code?: "same_field" | "update_delete" | "delete_update" | "create_create"
    path?: string
    message?: string
    production: Step[]
    preview: Step[]
  })[]
  created_by: string | null
  created_by_name: string | null
  created_at: string
  kept?: ({
    kind: "record_type" | "relationship_type" | "file_type" | "trigger" | "inbound_webhook" | "endpoint" | "toolset" | "action" | "seed"
    id: string
  })[]
  secrets?: ({
    kind: "record_type" | "relationship_type" | "file_type" | "trigger" | "inbound_webhook" | "endpoint" | "toolset" | "action" | "seed"
    id: string
    secret: string | null
  })[]
  meta?: {
    warnings?: string[]
    records_rewritten?: { [name: string]: number }
  }
  dry_run?: true
}

export type ConfigurationChange = {
  kind: "record_type" | "relationship_type" | "file_type" | "trigger" | "inbound_webhook" | "endpoint" | "toolset" | "action" | "seed" | "record" | "relationship"
  id: string
  op: "create" | "update" | "delete"
  title?: string
  diff: Step[]
  rolled_back?: true
}

export type Proposal = {
  from: string
  base_id: string
  changes: ConfigurationChange[]
  summary: {
    create: number
    update: number
    delete: number
  }
  conflicts: ({
    kind: "record_type" | "relationship_type" | "file_type" | "trigger" | "inbound_webhook" | "endpoint" | "toolset" | "action" | "seed" | "record" | "relationship"
    id: string
    code?: "same_field" | "update_delete" | "delete_update" | "create_create"
    path?: string
    message?: string
    production: Step[]
    preview: Step[]
  })[]
  breaks: Data[]
  revision?: number
  hash?: string
  kept?: ({
    kind: "record_type" | "relationship_type" | "file_type" | "trigger" | "inbound_webhook" | "endpoint" | "toolset" | "action" | "seed"
    id: string
  })[]
  meta?: {
    warnings?: string[]
    records_rewritten?: { [name: string]: number }
  }
}

export type DiscardedChanges = {
  from: string
  revision: number
  changes: ConfigurationChange[]
  dry_run?: true
}

export type ReviewRequest = {
  id: string
  kind: "promotion" | "pause"
  from: string
  by: Actor
  at: string
  title: string
  note: string | null
  summary: string
  breaks: ({
    kind: "record_type" | "relationship_type" | "file_type" | "trigger" | "inbound_webhook" | "endpoint" | "toolset" | "action" | "seed" | null
    id: string | null
    code: string
    message: string
    count?: number
  })[]
  migration: { [name: string]: ({
    op: "default" | "rename" | "cast" | "replace" | "drop"
    field: string
    to?: string
    from?: Json
    value?: Json
    type?: "string" | "number" | "integer" | "boolean"
  })[] } | null
  state: "open" | "accepted" | "declined" | "sent_back"
  revision: number | null
  may_decide: boolean
  decision: {
    decision: "accept" | "decline" | "send_back"
    note: string | null
    by: Actor
    at: string
    promotion_id: string | null
  } | null
  pause: {
    token_id: string
    since: string
    writes: number
    refused: number
    usual: number
    allowed: number
    wrote: ({
      change_set: string | null
      kind: "record" | "relationship"
      record_type: string | null
      count: number
    })[]
    paused_by?: Actor
  } | null
  proposal?: Proposal | null
  promotion?: Promotion
  dry_run?: true
}

export type Actor = {
  token_id: string | null
  name: string
  kind: "person" | "agent" | "program"
  via: string
}

export type ChangeSetReview = {
  id: string
  verdict: "comment" | "approve" | "request_changes" | "reject"
  revision: number
  is_stale: boolean
  resources: ({
    kind: "record" | "relationship"
    record_type?: string
    id: string
    fields?: string[]
  })[] | null
  text: string | null
  by: Actor
  at: string
  dry_run?: true
}

export type Config = {
  plinth: 1
  base: string
  record_types: Data[]
  relationship_types: Data[]
  file_types: Data[]
  triggers: Data[]
  inbound_webhooks: Data[]
  endpoints: Data[]
  toolsets: Data[]
  actions: Data[]
  seeds: Data[]
  hash: string
}

export type ConfigDiff = {
  changes: ConfigurationChange[]
  summary: {
    create: number
    update: number
    delete: number
  }
  hash: string
  kept?: ({
    kind: "record_type" | "relationship_type" | "file_type" | "trigger" | "inbound_webhook" | "endpoint" | "toolset" | "action" | "seed"
    id: string
  })[]
  secrets?: ({
    kind: "record_type" | "relationship_type" | "file_type" | "trigger" | "inbound_webhook" | "endpoint" | "toolset" | "action" | "seed"
    id: string
    secret: string | null
  })[]
  meta?: {
    warnings: string[]
  }
  dry_run?: true
}

export type RecordType = {
  id: string
  name: string
  description: string | null
  icon: string | null
  color: string | null
  json_schema: Data
  indexes: Index[]
  timezone: string
  sources: Source[]
  display: Data
  version: number
  created_at: string
  updated_at: string
  dry_run?: true
  meta?: {
    warnings?: string[]
    records_rewritten?: number
  }
}

export type Index = {
  fields: (string | {
    field: string
    direction: "desc"
  })[]
  unique: boolean
  type: "btree" | "text"
  status?: "building" | "ready" | "failed"
  duplicates?: {
    values: Json[]
    ids: string[]
  }[]
}

export type Source = {
  name: string
  auth?: {
    header: string
    value_template: string
  }
  get?: {
    url: string
    method?: "GET" | "POST"
    response_path?: string
  }
  list?: {
    url: string
    method?: "GET" | "POST"
    response_path?: string
    total_path?: string
  }
  create?: {
    url: string
    method?: "POST" | "PUT" | "PATCH"
    response_path?: string
  }
  update?: {
    url: string
    method?: "PUT" | "PATCH" | "POST"
    response_path?: string
  }
  field_mapping?: {
    to_external?: { [name: string]: string | {
      path: string
      values?: Data
    } }
    to_plinth?: { [name: string]: string | {
      path: string
      values?: Data
      date_format?: string
      default?: Json
    } }
  }
}

export type IndexDeclaration = {
  fields: (string | {
    field: string
    direction?: "asc" | "desc"
  })[]
  unique?: boolean
  type?: "btree" | "text"
}

export type ConfigurationVersion = {
  version: number
  operation: "create" | "update" | "delete"
  at: string
  actor: Actor
  request_id: string
  call: ToolCall | null
  seq: number
  cause: string | null
  diff: Step[]
}

export type ToolCall = {
  id: string
  tool: string
  endpoint: string | null
  client: string | null
  trace_id: string | null
}

export type InferredSchema = {
  record_type: string
  json_schema: Data
  count: number
  read: number
  omitted_fields?: number
}

export type RecordTypeProfile = {
  count: number
  sampled: boolean
  fields: ({
    field: string
    types: string[]
    null_share: number | null
    distinct: number
    top: ({
      value: string | number | boolean
      count: number
    })[]
    min: string | number | boolean | null
    max: string | number | boolean | null
  })[]
  omitted_fields?: number
  relationships: ({
    rel_type: string
    direction: "outgoing" | "incoming"
    record_types: string[]
    count: number
    capped?: true
  })[]
  examples: {
    description: string
    query: Data
  }[]
}

export type FoundRecord = {
  id?: string
  record_type?: string
  data?: Data
  created_at?: string | null
  updated_at?: string | null
  external_id?: string | null
  external_source?: string | null
  version?: number | null
  status?: "active" | "cancelled" | null
  cancelled_at?: string | null
  valid?: false
  change_set?: string
  _expanded?: { [name: string]: Data[] }
  _expanded_truncated?: string[]
  claim?: Claim | null
  _search_score?: number
  _snippets?: {
    field: string
    text: string
    matches: string[]
    truncated?: true
  }[]
}

export type Claim = {
  id: string
  record_type: string
  record_id: string
  status: "active" | "completed" | "exhausted" | "released"
  attempts: number
  expires_at: string
  holder: {
    token_id: string
    name: string
    kind: "person" | "agent" | "program"
  }
  claimed_at: string
  dry_run?: true
}

export type Filter = Data

export type SortTerm = {
  field: string
  direction?: "asc" | "desc"
}

export type PutRecord = {
  id: string
  record_type: string
  data: Data
  created_at: string | null
  updated_at: string | null
  external_id: string | null
  external_source: string | null
  version: number | null
  status: "active" | "cancelled" | null
  cancelled_at: string | null
  valid?: false
  operation?: "created" | "updated" | "unchanged"
  dry_run?: true
  change_set?: string
  meta?: {
    warnings: string[]
  }
  relationships?: LinkCounts
}

export type LinkCounts = {
  created: number
  updated: number
  unchanged: number
}

export type RecordLink = {
  rel_type: string
  direction?: "outgoing" | "incoming"
  record_type: string
  id?: string
  external_id?: string
  external_source?: string
  data?: Data
}

export type OneRecord = {
  id: string
  record_type: string
  data: Data
  created_at: string | null
  updated_at: string | null
  external_id: string | null
  external_source: string | null
  version: number | null
  status: "active" | "cancelled" | null
  cancelled_at: string | null
  valid?: false
  change_set?: string
  _expanded?: { [name: string]: Data[] }
  _expanded_truncated?: string[]
  claim?: Claim | null
  truncated?: {
    path: string
    size: number
  }[]
}

export type WrittenRecord = {
  id: string
  record_type: string
  data: Data
  created_at: string | null
  updated_at: string | null
  external_id: string | null
  external_source: string | null
  version: number | null
  status: "active" | "cancelled" | null
  cancelled_at: string | null
  valid?: false
  operation?: "created" | "updated" | "unchanged"
  dry_run?: true
  change_set?: string
  meta?: {
    warnings: string[]
  }
}

export type StoredRecord = {
  id: string
  record_type: string
  data: Data
  created_at: string | null
  updated_at: string | null
  external_id: string | null
  external_source: string | null
  version: number | null
  status: "active" | "cancelled" | null
  cancelled_at: string | null
  valid?: false
  operation?: "created" | "updated" | "unchanged"
  dry_run?: true
  change_set?: string
}

export type NewAttachment = {
  id: string
  filename: string
  content_type: string
  size: number | null
  sha256: string | null
  status: "pending" | "ready"
  created_at: string
  dry_run?: true
  upload_url?: string
  expires_at?: string | null
}

export type Attachment = {
  id: string
  filename: string
  content_type: string
  size: number | null
  sha256: string | null
  status: "pending" | "ready"
  created_at: string
  dry_run?: true
}

export type FoundAttachment = {
  id: string
  filename: string
  content_type: string
  size: number | null
  sha256: string | null
  status: "pending" | "ready"
  created_at: string
  url: string | null
  expires_at?: string | null
}

export type DeletionPlan = {
  plan: {
    what: string
    bases?: {
      count: number
      names: string[]
    }
    record_types?: {
      count: number
      names: string[]
    }
    relationship_types?: {
      count: number
      names: string[]
    }
    file_types?: {
      count: number
      names: string[]
    }
    records?: {
      count: number
      by_type: { [name: string]: number }
    }
    relationships?: {
      count: number
      by_type: { [name: string]: number }
    }
    files?: {
      count: number
      by_type: { [name: string]: number }
    }
    attachments?: {
      count: number
      by_type: { [name: string]: number }
    }
    samples?: string[]
    titles?: (string | null)[]
  }
  plan_token: string
  expires_at: string
  next: string
}

export type BatchRecordLink = {
  rel_type: string
  direction?: "outgoing" | "incoming"
  record_type: string
  id?: string | Data
  external_id?: string
  external_source?: string
  data?: Data
}

export type Related = {
  relationship: {
    id: string
    rel_type: string
    source_record_type: string
    source_id: string
    target_record_type: string
    target_id: string
    data: Data
    external_id: string | null
    external_source: string | null
    version: number
    valid?: false
    created_at: string
    updated_at: string
    replaced?: string[]
    change_set?: string
  }
  record: FoundRecord
  title?: string | null
  depth: number
  path: string[]
}

export type RelationshipType = {
  id: string
  name: string
  description: string | null
  data_schema: Data
  source_record_types: string[]
  target_record_types: string[]
  cardinality: "many_to_many" | "one_to_many" | "many_to_one" | "one_to_one"
  on_delete: "unlink" | "restrict" | "cascade"
  version: number
  created_at: string
  updated_at: string
  dry_run?: true
  meta?: {
    warnings?: string[]
    records_rewritten?: number
  }
}

export type Relationship = {
  id: string
  rel_type: string
  source_record_type: string
  source_id: string
  target_record_type: string
  target_id: string
  data: Data
  external_id: string | null
  external_source: string | null
  version: number
  valid?: false
  created_at: string
  updated_at: string
  operation?: "created" | "updated" | "unchanged"
  replaced?: string[]
  dry_run?: true
  change_set?: string
}

export type FileStorage = {
  max_bytes?: number
  content_types?: string[]
  keep_versions?: number | null
  immutable?: boolean
}

export type FileEntry = {
  path: string
  file_type?: string
  version?: number
  content_sha256?: string
  size?: number
  content_type?: string
  metadata?: Data
  label?: string | null
  created_at?: string
  updated_at?: string
  kind: "file" | "folder"
}

export type File = {
  path: string
  file_type: string
  version: number
  content_sha256: string
  size: number
  content_type: string
  metadata: Data
  label: string | null
  created_at: string
  updated_at: string
  operation?: "created" | "updated" | "unchanged"
  dry_run?: true
}

export type FilePatch = {
  edits?: TextEdit[]
  patch?: string
  path?: string
  metadata?: Data
  content_type?: string
  label?: string | null
}

export type TextEdit = {
  find: string
  replace: string
  all?: boolean
}

export type FoundFile = {
  path: string
  file_type: string
  version: number
  content_sha256: string
  size: number
  content_type: string
  metadata: Data
  label: string | null
  created_at: string
  updated_at: string
  _search_score: number
  _snippets?: ({
    field: "text" | "path"
    text: string
    matches: string[]
    truncated?: true
  })[]
}

export type FileText = {
  path: string
  file_type: string
  version: number
  content_sha256: string
  size: number
  content_type: string
  metadata: Data
  label: string | null
  created_at: string
  updated_at: string
  binary: boolean
  text: string | null
  from: number
  to: number
  lines: number | null
  has_more: boolean
}

export type FileVersion = {
  version: number
  content_sha256: string
  size: number
  content_type: string
  label: string | null
  created_at: string
  created_by: string
}

export type FileDiff = {
  from: FileVersion
  to: FileVersion
  binary: boolean
  diff: string | null
}

export type NewS3Credential = {
  id: string
  file_type: string | null
  permission: "read" | "write"
  endpoint: string
  region: string
  bucket: string
  prefix: string
  created_by: string
  created_at: string
  expires_at: string
  access_key_id: string | null
  secret_access_key: string | null
  session_token: string | null
  mount: {
    rclone: string
    s3fs: string
  } | null
  dry_run?: true
}

export type S3Credential = {
  id: string
  file_type: string | null
  permission: "read" | "write"
  endpoint: string
  region: string
  bucket: string
  prefix: string
  created_by: string
  created_at: string
  expires_at: string
  masked: string
}

export type RecordVersion = {
  version: number
  operation: "create" | "update" | "cancel" | "delete" | "restore"
  at: string
  actor: Actor
  request_id: string
  call: ToolCall | null
  seq: number
  cause: string | null
  diff: Step[]
  proposed?: {
    token_id: string | null
    name: string
    kind: "person" | "agent" | "program"
    request_id: string
    call: ToolCall | null
  }
}

export type Reverting = {
  seq: number
  at: string
  actor: Actor
  request_id: string
  call: ToolCall | null
  kind: string
  record_type: string | null
  id: string
  operation: "create" | "update" | "cancel" | "delete" | "restore"
  version: number
  diff: Step[]
  cause: string | null
  proposed?: {
    token_id: string | null
    name: string
    kind: "person" | "agent" | "program"
    request_id: string
    call: ToolCall | null
  }
  title?: string | null
  secrets?: ({
    kind: "record_type" | "relationship_type" | "file_type" | "trigger" | "inbound_webhook" | "endpoint" | "toolset" | "action" | "seed"
    id: string
    secret: string | null
  })[]
  dry_run?: true
}

export type Undo = {
  request_id: string
  last?: {
    request_id: string
    at: string
    via: string
    tool: string | null
  }
  count: number
  by: ChangeCount[]
  data: ({
    reverts: number
    kind: string
    record_type: string | null
    id: string
    operation: "create" | "update" | "cancel" | "delete" | "restore"
    diff?: Step[]
    title?: string | null
  })[]
  also: ({
    reverts: number
    kind: string
    record_type: string | null
    id: string
    operation: "create" | "update" | "cancel" | "delete" | "restore"
    diff?: Step[]
    title?: string | null
  })[]
  effects?: {
    changes: number
    deliveries: UndoEffect[]
    runs: UndoEffect[]
  }
  skipped: ({
    kind: string
    record_type: string | null
    id: string
    title?: string | null
    seq: number
    overtaken_by: number | null
    code: string
    message: string
  })[]
  secrets?: ({
    kind: "record_type" | "relationship_type" | "file_type" | "trigger" | "inbound_webhook" | "endpoint" | "toolset" | "action" | "seed"
    id: string
    secret: string | null
  })[]
  dry_run?: true
}

export type ChangeCount = {
  kind: string
  record_type: string | null
  operation: "create" | "update" | "cancel" | "delete" | "restore"
  count: number
}

export type UndoEffect = {
  id: string
  of: string
  status: string
}

export type TrashedRecord = {
  id: string
  record_type: string
  data: Data
  created_at: string | null
  updated_at: string | null
  external_id: string | null
  external_source: string | null
  version: number | null
  status: "active" | "cancelled" | null
  cancelled_at: string | null
  valid?: false
  change_set?: string
  title?: string | null
  deleted_at: string
  deleted_by: Actor
  expires_at: string
}

export type ClaimedRecords = {
  data: {
    record: StoredRecord
    claim: {
      id: string
      expires_at: string
      attempts: number
    }
  }[]
  meta: {
    count: number
    limit: number
    has_more?: true
    truncated?: true
    hint?: string
  }
  dry_run?: true
}

export type Delivery = {
  direction: "out" | "in"
  of: {
    kind: "trigger" | "inbound_webhook"
    id: string
    name: string
  }
  id: string
  webhook_id: string | null
  status: "pending" | "succeeded" | "failed" | "dead"
  attempts: number
  record_type: string | null
  record_id: string | null
  title?: string | null
  event: string | null
  change_seq: number | null
  next_attempt_at: string | null
  last_attempt_at: string | null
  response_status: number | null
  response: {
    status: number
    body: string
    duration_ms: number
  } | null
  error: string | null
  created_at: string
}

export type Replayed = {
  count: number
  failed: number
  has_more: boolean
  dry_run?: true
}

export type ClaimOutcomes = {
  data: ({
    id: string
    record_type: string
    record_id: string
    status: "active" | "completed" | "exhausted" | "released"
    attempts: number
    expires_at: string
    holder: {
      token_id: string
      name: string
      kind: "person" | "agent" | "program"
    }
    claimed_at: string
  } | {
    id: string
    error: {
      code: string
      message: string
    }
  })[]
  meta: {
    count: number
    refused?: number
  }
  dry_run?: true
}

export type Group = Data

export type Aggregation = {
  fn: "count" | "sum" | "avg" | "min" | "max" | "count_distinct"
  field?: string
  alias?: string
}

export type GroupTerm = {
  field: string
  interval?: "minute" | "hour" | "day" | "week" | "month" | "quarter" | "year"
  alias?: string
}

export type Over = {
  interval: "minute" | "hour" | "day" | "week" | "month" | "quarter" | "year"
  since: string
  until?: string
}

export type CrossBaseRecord = {
  id?: string
  record_type?: string
  data?: Data
  created_at?: string | null
  updated_at?: string | null
  external_id?: string | null
  external_source?: string | null
  version?: number | null
  status?: "active" | "cancelled" | null
  cancelled_at?: string | null
  valid?: false
  change_set?: string
  _expanded?: { [name: string]: Data[] }
  _expanded_truncated?: string[]
  claim?: Claim | null
  _search_score?: number
  _snippets?: {
    field: string
    text: string
    matches: string[]
    truncated?: true
  }[]
  base_id: string
}

export type ToolCallRecord = {
  id: string
  record_type: string
  data: Data
  created_at: string | null
  updated_at: string | null
  external_id: string | null
  external_source: string | null
  version: number | null
  status: "active" | "cancelled" | null
  cancelled_at: string | null
  valid?: false
  operation?: "created" | "updated" | "unchanged"
  dry_run?: true
  change_set?: string
  tool_result: Json
}

export type EndpointTool = {
  record_type: string
  operations: ("create" | "get" | "list" | "update" | "upsert" | "delete" | "cancel" | "aggregate" | "history" | "claim" | "attach")[]
  name_override?: string | null
  description_override?: string | null
  fields?: string[] | null
  filter?: Filter | null
  write_filter?: Filter | null
  defaults?: Data | null
}

export type EndpointRelationship = {
  rel_type: string
  operations: ("link" | "unlink" | "related")[]
}

export type EndpointBatch = {
  enabled: boolean
  operations?: ("create_record" | "patch_record" | "upsert_record" | "delete_record" | "cancel_record" | "upsert_relationship" | "delete_relationship" | "create" | "update" | "upsert" | "delete" | "cancel" | "link" | "unlink")[] | null
}

export type EndpointAction = {
  id: string
  run_as?: "caller" | "action"
}

export type Toolset = {
  name: string
  description: string | null
  tools: EndpointTool[]
  id: string
  version: number
  created_at: string
  updated_at: string
  dry_run?: true
}

export type Seed = {
  name: string
  description: string | null
  records: SeedRecord[]
  relationships: SeedRelationship[]
  id: string
  version: number
  created_at: string
  updated_at: string
  dry_run?: true
}

export type SeedRecord = {
  record_type: string
  external_id: string
  data: Data
}

export type SeedRelationship = {
  rel_type: string
  source: SeedEnd
  target: SeedEnd
  data?: Data
}

export type SeedEnd = {
  record_type: string
  external_id: string
}

export type SeedRun = {
  id: string
  records: {
    created: number
    updated: number
    unchanged: number
    deleted: number
  }
  relationships: {
    created: number
    updated: number
    unchanged: number
    deleted: number
  }
  dry_run?: true
}

export type ActionStep = {
  name: string
  type: "upsert_record" | "create_record" | "patch_record" | "delete_record" | "cancel_record" | "upsert_relationship" | "create_relationship" | "delete_relationship" | "upsert_record_type" | "delete_record_type" | "upsert_relationship_type" | "delete_relationship_type" | "query" | "http"
  when?: Json
}

export type ActionAnswer = {
  run_id: string
  status: "succeeded"
  output: Json
  steps: {
    name: string
    type: string
  }[]
  dry_run?: true
  change_set?: string
}

export type ActionRun = {
  id: string
  status: "succeeded" | "failed"
  action_version: number
  input: Json
  output: Json
  steps: {
    name: string
    type: string
    status: string
  }[]
  error: {
    code: string
    message: string
    details: Json[]
  } | null
  duration_ms: number
  actor: {
    token_id: string | null
    name: string
    via: string
  }
  request_id: string
  cause: string | null
  created_at: string
}

export type TriggerDelivery = {
  id: string
  webhook_id: string
  event: string
  record_type: string | null
  record_id: string | null
  change_seq: number | null
  status: "pending" | "succeeded" | "failed" | "dead"
  attempts: number
  next_attempt_at: string | null
  last_attempt_at: string | null
  response: {
    status: number
    body: string
    duration_ms: number
  } | null
  error: string | null
  created_at: string
  dry_run?: true
}

export type InboundSignature = {
  scheme: "standard" | "github" | "stripe" | "slack" | "hmac" | "token"
  header?: string
  algorithm?: "sha256" | "sha1" | "sha512"
  encoding?: "hex" | "base64"
  prefix?: string
  timestamp_header?: string
  signed?: string
  tolerance_seconds?: number
}

export type InboundMapping = {
  external_id?: string
  external_source?: string
  data?: { [name: string]: string | {
    path: string
    values?: Data
    date_format?: string
    default?: Json
  } }
  items?: string
  relationships?: InboundRelationship[]
  on_existing?: "update" | "keep"
}

export type InboundRelationship = {
  rel_type: string
  direction?: "outgoing" | "incoming"
  record_type: string
  id?: string
  external_id?: string
  external_source?: string
}

export type InboundDelivery = {
  id: string
  delivery_id: string | null
  status: "succeeded" | "failed"
  attempts: number
  records: {
    id: string
    operation: string
  }[] | null
  error: {
    code: string
    message: string
    details: Json[]
  } | null
  body: string | null
  warnings: {
    path: string
    code: string
    message: string
  }[] | null
  request_id: string
  last_attempt_at: string
  created_at: string
  dry_run?: true
}

export type Token = {
  id: string
  name: string
  kind: "person" | "agent" | "program"
  masked: string
  grants: Grant[]
  created_at: string
  created_by: string | null
  expires_at: string | null
  last_used_at: string | null
  used_by_server: boolean
  bounds?: {
    rules: ({
      base: string[]
      max: number
      per: "hour" | "day" | "request"
      used: number
      remaining: number
      ends_at: string | null
    })[]
    pace: {
      per: "hour"
      pauses_above: number
      bases: {
        base_id: string
        used: number
        usual: number
        pauses_above: number
      }[]
    } | null
    paused: {
      base_id: string
      review_request: string
      since: string
    }[]
  }
  token?: string | null
  dry_run?: true
}

export type Grant = {
  base: string | string[]
  record_type?: string | string[]
  endpoint?: string | string[]
  environment: "production" | "preview" | "*"
  permission: "read" | "write" | "manage" | "admin"
  writes?: "direct" | "propose" | {
    auto: AutoRule[]
  }
}

export type AutoRule = {
  record_type: string
  operations: ("create" | "update" | "cancel" | "restore" | "delete")[]
  fields?: string[]
  filter?: Json
  max: number
  per: "hour" | "day" | "request"
}

export type SignInCode = {
  code: string | null
  expires_at: string
  dry_run?: true
}

export type Secret = {
  name: string
  description: string | null
  bases: string[]
  created_by: string | null
  version: number
  created_at: string
  updated_at: string
  dry_run?: true
}

export type MasterKeyRotation = {
  key_id: string
  rewrapped: number
  unreadable: number
  dry_run?: true
}

export type Diagnostics = {
  status: "ok" | "warning" | "error"
  checks: ({
    name: string
    status: "ok" | "warning" | "error"
    message: string
  })[]
}

export type Change = {
  seq: number
  at: string
  actor: Actor
  request_id: string
  call: ToolCall | null
  kind: string
  record_type: string | null
  id: string
  operation: "create" | "update" | "cancel" | "delete" | "restore"
  version: number
  diff: Step[]
  cause: string | null
  proposed?: {
    token_id: string | null
    name: string
    kind: "person" | "agent" | "program"
    request_id: string
    call: ToolCall | null
  }
  title?: string | null
}

export type ChangeGroup = {
  request_id: string
  call: ToolCall | null
  actor: Actor
  first_at: string
  last_at: string
  last_seq: number
  count: number
  id?: string | null
  title?: string | null
  by: ChangeCount[]
  fields?: {
    record_type: string
    path: string
    count: number
    from?: Json
    to?: Json
  }[]
  undone: number
  undone_by: string | null
  proposed?: ({
    token_id: string | null
    name: string
    kind: "person" | "agent" | "program"
    count: number
  })[]
}

export type ChangesMeta = {
  has_more: boolean
  limit: number
  next_after?: number
  next_before?: number
  hint?: string
}

export type Call = {
  id: string
  at: string
  actor: Actor
  surface: "rest" | "mcp" | "graphql" | "s3"
  endpoint: string | null
  tool: string | null
  route: string | null
  outcome: string
  message: string | null
  ms: number
  bytes_in: number
  bytes_out: number
  arguments: string | null
  request_id: string
  changes: number
}

export type CallsMeta = {
  has_more: boolean
  limit: number
  next_before?: string
}

export type Usage = {
  at: string
  token?: {
    token_id: string
    name: string
    kind: "person" | "agent" | "program"
  } | null
  endpoint?: string | null
  tool?: string | null
  surface?: string | null
  calls: number
  failed: number
  reads: number
  changes: number
  bytes_in: number
  bytes_out: number
  ms: number
}

export type ChangeTrace = {
  change: Change
  causes: TraceStep[]
  effects: TraceStep[]
  truncated: boolean
}

export type TraceStep = {
  kind: "change" | "tool_call" | "request" | "inbound_delivery" | "trigger_delivery" | "action_run" | "promotion" | "seed"
  id: string
  of: string | null
  depth: number
  cause: string | null
  at: string | null
  status: string | null
  change: ChangeSummary | null
  actor: Actor | null
  request_id: string | null
  call: ToolCall | null
}

export type ChangeSummary = {
  seq: number
  kind: string
  record_type: string | null
  id: string
  operation: "create" | "update" | "cancel" | "delete" | "restore"
  version: number
}

export type Error = {
  error: {
    code: "VALIDATION_ERROR" | "UNAUTHORIZED" | "FORBIDDEN" | "NOT_FOUND" | "CONFLICT" | "RATE_LIMITED" | "INTERNAL_ERROR"
    message: string
    details: ErrorDetail[]
    request_id: string
  }
}

export type ErrorDetail = {
  path: string
  code: string
  message: string
  expected?: Json
  received?: Json
  allowed?: Json[]
  hint?: string
  count?: number
  samples?: Json[]
  run_id?: string
}

/** What lists are of, where it has no name. */
export type Lists = {
  relationships: {
    id: string
    rel_type: string
    source_record_type: string
    source_id: string
    target_record_type: string
    target_id: string
    data: Data
    external_id: string | null
    external_source: string | null
    version: number
    valid?: false
    created_at: string
    updated_at: string
    change_set?: string
  }
  "file-types": {
    name: string
    description: string | null
    storage: {
      max_bytes: number
      content_types: string[]
      keep_versions: number | null
      immutable: boolean
    }
    metadata_schema: Json
    id: string
    version: number
    created_at: string
    updated_at: string
    dry_run?: true
    meta?: {
      warnings?: string[]
      records_rewritten?: number
    }
  }
  claims: {
    id: string
    record_type: string
    record_id: string
    status: "active" | "completed" | "exhausted" | "released"
    attempts: number
    expires_at: string
    holder: {
      token_id: string
      name: string
      kind: "person" | "agent" | "program"
    }
    claimed_at: string
    dry_run?: true
    title?: string | null
  }
  endpoints: {
    name: string
    description: string | null
    tools: EndpointTool[]
    instructions: string | null
    toolsets: string[]
    relationships: EndpointRelationship[]
    batch: EndpointBatch
    sql_query: boolean
    actions: (string | EndpointAction)[]
    undo: boolean
    resources: boolean
    enabled: boolean
    id: string
    version: number
    created_at: string
    updated_at: string
    dry_run?: true
    meta?: {
      warnings?: string[]
      records_rewritten?: number
    }
  }
  actions: {
    name: string
    description: string | null
    input_schema: Data
    steps: ActionStep[]
    output: Json
    id: string
    version: number
    created_at: string
    updated_at: string
    dry_run?: true
    meta?: {
      warnings?: string[]
      records_rewritten?: number
    }
  }
  triggers: {
    name: string
    description: string | null
    record_types: string[]
    events: ("create" | "update" | "cancel" | "delete" | "restore" | "preview.opened" | "preview.submitted" | "preview.commented" | "preview.changes_requested" | "preview.approved" | "preview.discarded" | "preview.merged" | "preview.rejected" | "preview.expired" | "preview.reopened" | "token.paused" | "token.resumed")[]
    condition: Json
    url: string | null
    action: string | null
    headers: { [name: string]: string }
    enabled: boolean
    skip_inbound_writes: boolean
    secret: string | null
    max_attempts: number
    id: string
    version: number
    created_at: string
    updated_at: string
    dry_run?: true
    status: {
      last_success_at: string | null
      last_failure_at: string | null
      consecutive_failures: number
      disabled_reason: string | null
    } | null
    meta?: {
      warnings?: string[]
      records_rewritten?: number
    }
  }
  "inbound-webhooks": {
    name: string
    record_type: string
    signature: InboundSignature
    mapping: InboundMapping | null
    enabled: boolean
    secret: string | null
    id: string
    version: number
    created_at: string
    updated_at: string
    dry_run?: true
    ingest_url: string
    status: {
      refused: number
      last_refused_at: string | null
    } | null
  }
  "mcp/tools": {
    name: string
    description: string
    input_schema: Data
    output_schema: Data
    annotations: Data
    tokens: number
  }
}
