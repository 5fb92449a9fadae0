import type { ValueType } from './operators.ts'

/** The columns of a record besides `data`. */
export const COLUMNS = [
  'id',
  'external_id',
  'external_source',
  'status',
  'version',
  'created_at',
  'updated_at',
] as const
/** What a filter of present records may name beside `data`: whether the schema of the type admits the record, too. */
export const FILTER_COLUMNS = [...COLUMNS, 'valid'] as const
export type Column = (typeof FILTER_COLUMNS)[number]

/** The type of each column, which determines its allowed operators. */
export const COLUMN_TYPES = {
  id: 'string',
  external_id: 'string',
  external_source: 'string',
  status: 'string',
  version: 'number',
  created_at: 'instant',
  updated_at: 'instant',
  valid: 'boolean',
} as const satisfies Record<Column, ValueType>

/**
 * The SQL column of a property: its own name, or `data_<name>` where every record has a column of that name.
 */
export const sqlColumnOf = (property: string): string => (isBuiltIn(property) ? `data_${property}` : property)

/** Whether every record has a field, and SQL a column, of this name. */
export const isBuiltIn = (property: string): boolean =>
  property === 'data' || COLUMNS.some((column) => column === property)

/** The SQL columns of the relations of claims, links, calls and usage, and of the change log. */
export const RELATION_COLUMNS = {
  claims: 'id record_type record_id status holder claimed_at attempts expires_at',
  relationships:
    'id rel_type source_record_type source_id target_record_type target_id external_id external_source data version created_at updated_at',
  changes:
    'seq at kind record_type id operation version data data_before changed external_id external_source status actor_name actor_kind via request_id call',
  calls:
    'id at token_id actor_name actor_kind via surface endpoint tool route outcome message ms bytes_in bytes_out arguments request_id changes',
  usage:
    'hour token_id actor_name actor_kind surface endpoint tool calls failed reads changes bytes_in bytes_out ms',
} as const

/** What the own status of a record can be. */
export const STATUSES = ['active', 'cancelled'] as const
export const isStatus = (value: unknown): boolean => STATUSES.some((status) => status === value)
