/** Filters and sorts in bodies. The engine reads them, with a fault for each mistake; the shapes describe them. */
import { z } from 'zod'
import { DataObject } from './batch-shapes.ts'
import { OPERATOR_NAMES } from './operators.ts'

const FIELD = {
  type: 'string',
  description: 'A field of every record, such as `created_at`, or a path into the data: `data.amount`.',
}
const AGAIN = { $ref: '#/$defs/Filter' }
const group = (name: string, of: object) => ({
  type: 'object',
  properties: { [name]: of },
  required: [name],
  additionalProperties: false,
})

/** A condition on linked records; `filter` is the schema of their filter. */
export const linkedCondition = (filter: object) => ({
  type: 'object',
  description:
    'A condition on the records that are linked by a relationship type. The filter of an endpoint has none.',
  properties: {
    rel_type: { type: 'string', description: 'The relationship type.' },
    direction: { type: 'string', enum: ['outgoing', 'incoming'], default: 'outgoing' },
    record_type: { type: 'string', description: 'Only linked records of this type.' },
    filter,
  },
  required: ['rel_type'],
  additionalProperties: false,
})

/** A condition, or a group of conditions. */
export const Filter = DataObject.meta({
  id: 'Filter',
  description: 'A condition, or a group of them.',
  oneOf: [
    {
      type: 'object',
      properties: {
        field: FIELD,
        op: { type: 'string', enum: OPERATOR_NAMES },
        value: { description: 'What the field is compared with. Left out with `is_null` and `is_not_null`.' },
      },
      required: ['field', 'op'],
      additionalProperties: false,
    },
    group('and', { type: 'array', items: AGAIN, minItems: 1 }),
    group('or', { type: 'array', items: AGAIN, minItems: 1 }),
    group('not', AGAIN),
    group('some', linkedCondition(AGAIN)),
    group('none', linkedCondition(AGAIN)),
  ],
})

/** A term of a sort: a field with a direction. */
const SortTerm = z.unknown().meta({
  id: 'SortTerm',
  type: 'object',
  properties: { field: FIELD, direction: { type: 'string', enum: ['asc', 'desc'], default: 'asc' } },
  required: ['field'],
  additionalProperties: false,
})

/** The sort of a query in a body. */
export const sortBody = (example: string, description: string) =>
  z
    .union(
      [z.string(), z.array(SortTerm)],
      `sort is a list of {"field","direction"}, or a string like "${example}".`,
    )
    .optional()
    .meta({ description })
