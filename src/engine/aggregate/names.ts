import { nearest } from '../../contract/suggest.ts'
import { invalid } from '../../foundation/errors.ts'
import type { Field } from '../filter/field.ts'
import type { AggregateField, Aggregation } from './query.ts'

/** What an aggregation is called that has no alias: `count`, or the function and the last segment of its field. */
export function nameOf(fn: Aggregation['fn'], field: AggregateField | null): string {
  if (field === null) return fn
  if (field.kind === 'base') return `${fn}_base_id`
  if (field.kind === 'column') return `${fn}_${field.column}`
  return `${fn}_${field.path.at(-1) ?? 'data'}`
}

/** Reads the fields of `having` and `sort`: the columns of the answer, by name. */
export function nameReader(names: readonly string[]) {
  const known = new Set(names)
  /** The field is a step into a row of the answer. @throws VALIDATION_ERROR for a name that the answer does not have */
  return (name: unknown, at: string): Field => {
    if (typeof name === 'string' && known.has(name)) return { kind: 'data', path: [name] }
    const shown = String(name).slice(0, 64)
    const close = typeof name === 'string' ? nearest(name, names) : undefined
    throw invalid({
      path: at,
      code: 'unknown_field',
      message: `The result has no column "${shown}". Name a group key or an alias.`,
      received: shown,
      allowed: names,
      ...(close && { hint: close }),
    })
  }
}
