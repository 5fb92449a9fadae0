import type { FieldContext, Operand } from '../filter/operand.ts'
import type { AggregateField } from './query.ts'
import type { Show } from './show.ts'
import type { Source } from './source.ts'

/** A column of the answer: `sql` makes it of the source `s`; among the groups it is `g.<column>`. */
export type Cell = {
  name: string
  column: string
  sql: string
  kind: 'number' | 'instant' | 'text' | 'json'
  /** The zone in which times without an offset are read; for `json` null unless its strings may be times. */
  zone: string | null
  show: Show
}

/** What fields mean where records of several types meet. */
export type Meaning = { types: readonly FieldContext[]; source: Source }

/** What a field beside `data` holds. */
export function kindOf(field: Exclude<AggregateField, { kind: 'data' }>): 'number' | 'instant' | 'text' {
  if (field.kind === 'base') return 'text'
  if (field.column === 'version') return 'number'
  return field.column === 'created_at' || field.column === 'updated_at' ? 'instant' : 'text'
}

/** What a condition on the column tests. Numbers compare as JSON does, exactly. */
export function operandOf({ kind, column, zone }: Cell): Operand {
  const sql = `g.${column}`
  if (kind === 'number') return { kind: 'json', sql: `to_jsonb(${sql})`, zone: null }
  if (kind === 'instant') return { kind, sql, zone: zone ?? 'UTC' }
  return kind === 'json' ? { kind, sql, zone } : { kind, sql }
}
