/** The fields of a record that filters, sorts and aggregates name. */
import { fieldPaths, withoutNull } from '../../schema-shape/field-paths.ts'
import type { Shape } from '../../schema-shape/shape.ts'
import { typeOf } from './type-of-shape.ts'

/** Fields of every record. */
const OWN: readonly (readonly [string, string])[] = [
  ['id', 'string'],
  ['external_id', 'string'],
  ['external_source', 'string'],
  ['status', '"active" | "cancelled"'],
  ['version', 'number'],
  ['created_at', 'string'],
  ['updated_at', 'string'],
]
const MOST_FIELDS = 500

/** Paths with the types of their values: those of every record, then those of the data, the outer ones first. */
export const fieldsOf = (shape: Shape): (readonly [path: string, type: string])[] => [
  ...OWN,
  ...fieldPaths(shape, MOST_FIELDS - OWN.length).map(
    ([path, each]) => [path, typeOf(withoutNull(each), 'stored', '  ')] as const,
  ),
]
