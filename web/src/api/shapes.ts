/** The parts of answers that the pages read. The API reference at `/docs/` has all of them. */
import type { StoredRecord } from '../../../packages/client/src/types.ts'
import type { Grant, Kind } from './session.ts'

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
export type Data = Record<string, Json>
export type Page<Item> = {
  data: Item[]
  meta: { has_more: boolean; total?: number; next_cursor?: string; next_before?: number; hint?: string }
}

export type ChangeSet = {
  title?: string | null
  status: 'open' | 'submitted' | 'approved' | 'changes_requested' | 'merged' | 'rejected' | 'expired'
  revision: number
  closed_at: string | null
  /** Of the present revision. */
  approvals: { needed: number; given: number }
  created_by?: string | null
  created_by_name: string
  written_at: string
  counts: { create: number; update: number; delete: number }
}
export type Base = {
  id: string
  name: string | null
  description: string | null
  environment: 'production' | 'preview'
  production_base: string | null
  settings: { trash_days: number; call_arguments?: boolean; schema_changes?: string }
  created_at: string
  /** Of a change-set. */
  change_set?: ChangeSet | null
}
export type RecordType = {
  id: string
  name: string | null
  description: string | null
  json_schema: Schema
  indexes: { fields: (string | { field: string })[]; type?: string; unique?: boolean; status?: string }[]
  display: { title?: string; plural?: string }
  version: number
  updated_at: string
}
export type Schema = {
  type?: string | string[]
  title?: string
  description?: string
  format?: string
  enum?: Json[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: Json
  maxLength?: number
  minimum?: number
  maximum?: number
}

export type Row = Omit<StoredRecord<Data>, '_expanded'> & { title?: string }
export type Deleted = Row & { deleted_at: string; deleted_by: Actor; expires_at: string | null }

export type Actor = { token_id: string | null; name: string; via: string; kind?: Kind }
type Call = {
  tool: string | null
  endpoint: string | null
  client: string | null
}
type Written = { request_id: string; call: Call | null; actor: Actor }

/** A step of a JSON Patch, with the value before it. */
export type Step = { op: 'add' | 'replace' | 'remove'; path: string; value?: Json; before?: Json }
export type Operation = 'create' | 'update' | 'cancel' | 'delete' | 'restore'
export type Change = Written & {
  seq: number
  at: string
  kind: string
  record_type: string | null
  id: string
  operation: Operation
  version: number
  diff: Step[]
  cause: string | null
  /** Who proposed it, if it came with a change-set. */
  proposed?: { token_id: string | null; name: string; kind: Kind; call: Call | null }
  title?: string
}
export type Count = { kind: string; record_type: string | null; operation: Operation; count: number }
/** A field that a request changed; `from` and `to` where all changes share the value. */
export type ChangedField = { record_type: string; path: string; count: number; from?: Json; to?: Json }
export type Proposer = { token_id: string | null; name: string; kind: Kind; count: number }
export type Group = Written & {
  first_at: string
  last_at: string
  last_seq: number
  count: number
  by: Count[]
  undone_by: string | null
  /** Who proposed them, if they came with a change-set. */
  proposed?: readonly Proposer[]
  fields?: ChangedField[]
  title?: string | null
  /** The resource of a group of one. */
  id?: string
}

export type Claim = {
  id: string
  record_type: string
  record_id: string
  status: 'active' | 'completed' | 'exhausted'
  attempts: number
  expires_at: string
  claimed_at: string
  holder: { token_id: string | null; name: string; kind?: Kind } | null
  title?: string
}
export type Delivery = {
  id: string
  direction: 'in' | 'out'
  of: { kind: string; id: string; name: string | null }
  status: 'pending' | 'succeeded' | 'failed' | 'dead'
  attempts: number
  record_type: string | null
  record_id: string | null
  change_seq: number | null
  next_attempt_at: string | null
  last_attempt_at: string | null
  response_status: number | null
  error: string | null
  created_at: string
  title?: string
}
export type Token = {
  id: string
  name: string
  masked: string
  kind?: Kind
  grants: readonly Grant[]
  created_at: string
  created_by: string | null
  expires_at: string | null
  last_used_at: string | null
}
export type Selection = {
  record_type: string
  operations: string[]
  fields?: string[]
  filter?: Json
  write_filter?: Json
  defaults?: Data
}
export type Endpoint = {
  id: string
  name: string | null
  description: string | null
  instructions: string | null
  tools: Selection[]
  toolsets: string[]
  enabled: boolean
  undo: boolean
}
export type Profile = {
  count: number
  fields: {
    field: string
    types: string[]
    null_share: number
    distinct: number
    top: { value: Json; count: number }[]
  }[]
}

/** A resource that a preview, or a promotion of one, changes. */
export type Edit = {
  kind: string
  id: string
  op: 'create' | 'update' | 'delete'
  diff: Step[]
  title?: string | null
  /** Of a promotion: taken back since. */
  rolled_back?: true
}
export type Secret = { kind: string; id: string; secret: string | null }
export type Promotion = {
  id: string | null
  kind: 'promotion' | 'rollback'
  from: string
  status: 'applied' | 'rolled_back'
  changes: Edit[]
  created_by_name: string | null
  created_at: string
  secrets?: Secret[]
}

/** Something that waits for a person, whatever its kind. */
export type ReviewRequest = {
  id: string
  kind: string
  by: { token_id?: string | null; name: string; kind?: Kind }
  at: string
  title: string
  summary: string
  breaks: { kind: string; id: string; code?: string; message: string; count?: number }[]
  may_decide: boolean
  state?: string
}
