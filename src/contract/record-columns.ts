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
export type Column = (typeof COLUMNS)[number]

/** The type of each column, which determines its allowed operators. */
export const COLUMN_TYPES = {
  id: 'string',
  external_id: 'string',
  external_source: 'string',
  status: 'string',
  version: 'number',
  created_at: 'instant',
  updated_at: 'instant',
} as const satisfies Record<Column, ValueType>
