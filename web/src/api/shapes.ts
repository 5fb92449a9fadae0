/** The parts of answers that the pages read: those of the API description, with what it leaves open. */
import type { StoredRecord } from '../../../packages/client/src/types.ts'
import type * as Api from '../../../schema/openapi.d.ts'

export type * from '../../../schema/openapi.d.ts'
export type Count = Api.ChangeCount
export type Edit = Api.ConfigurationChange
export type Group = Api.ChangeGroup

export type Page<Item> = {
  data: Item[]
  meta: { has_more: boolean; total?: number; next_cursor?: string; next_before?: number; hint?: string }
}

export type ChangeSet = NonNullable<Api.Base['change_set']>
export type RecordType = Omit<Api.RecordType, 'json_schema' | 'display'> & {
  json_schema: Schema
  display: { title?: string; plural?: string }
}
export type Schema = {
  type?: string | string[]
  title?: string
  description?: string
  format?: string
  enum?: Api.Json[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: Api.Json
  maxLength?: number
  minimum?: number
  maximum?: number
}

export type Row = Omit<StoredRecord<Api.Data>, '_expanded'> & { title?: string }
export type Deleted = Row & { deleted_at: string; deleted_by: Api.Actor; expires_at: string | null }

/** A field that a request changed; `from` and `to` where all changes share the value. */
export type ChangedField = NonNullable<Api.ChangeGroup['fields']>[number]
export type Proposer = NonNullable<Api.ChangeGroup['proposed']>[number]
export type UndoPlan = Api.Undo
export type UndoItem = UndoPlan['data'][number]

export type Claim = Api.Lists['claims']
export type Endpoint = Api.Lists['endpoints']
export type Secret = NonNullable<Api.Promotion['secrets']>[number]
