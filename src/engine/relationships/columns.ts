import type { ValueType } from '../../contract/operators.ts'
import { type Field, readField } from '../compiled-types/field-path.ts'
import type { Operand } from '../filter/operand.ts'
import type { Fields } from '../filter/parse.ts'

/** The fields of a link besides its data, by their names in filters and sorts, with their types. */
const COLUMN_TYPES = {
  id: 'string',
  rel_type: 'string',
  source_record_type: 'string',
  source_id: 'string',
  target_record_type: 'string',
  target_id: 'string',
  external_id: 'string',
  external_source: 'string',
  version: 'number',
  created_at: 'instant',
  updated_at: 'instant',
} as const satisfies Record<string, ValueType>

export type LinkColumn = keyof typeof COLUMN_TYPES
const COLUMNS = Object.keys(COLUMN_TYPES) as LinkColumn[]

/**
 * Parses a field such as `rel_type` or `data.since`.
 * @throws VALIDATION_ERROR at `at`
 */
export const parseLinkField = (name: unknown, at: string): Field<LinkColumn> => readField(name, at, COLUMNS)

export const LINK_FIELDS: Fields<LinkColumn> = { read: parseLinkField, types: COLUMN_TYPES }

/** SQL operand for a column of `plinth.relationship AS r`. */
export function linkOperand(column: LinkColumn): Exclude<Operand, { kind: 'json' }> {
  const sql = `r.${column}`
  const type = COLUMN_TYPES[column]
  if (type === 'instant') return { kind: 'instant', sql, zone: 'UTC' }
  return { kind: type === 'number' ? 'number' : 'text', sql }
}
