/** The fields of a record type, and its filters and sorts, which name them. */
import { OPERATOR_NAMES, operatorsFor, TEXT_OPERATORS } from '../../../contract/operators.ts'
import { linkedCondition } from '../../../contract/query-shapes.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { fieldPaths, withoutNull } from '../../../schema-shape/field-paths.ts'
import { ANY, type Kind, onlyKind, type Shape } from '../../../schema-shape/shape.ts'
import type { Json } from '../json-schema.ts'

const of = (kind: Kind, values?: readonly string[]): Shape => ({ ...ANY, kinds: new Set([kind]), values })
/** Fields of every record. */
const OWN: readonly (readonly [string, Shape])[] = [
  ['id', of('string')],
  ['external_id', of('string')],
  ['external_source', of('string')],
  ['status', of('string', ['active', 'cancelled'])],
  ['version', of('number')],
  ['created_at', of('string')],
  ['updated_at', of('string')],
]

/** A condition on linked records, the same for all types. */
export const LINKED = linkedCondition({ $ref: '#/components/schemas/Filter' })

/** `<name>_Field`, `<name>_Filter` and `<name>_Sort` of a type whose data has the shape. */
export function filterSchemas(name: string, data: Shape): Record<string, Json> {
  const ref = (suffix: string) => ({ $ref: `#/components/schemas/${name}_${suffix}` })
  const paths = fieldPaths(data, LIMITS.openapiFilterFields)
  const fields = [...OWN, ...paths]
  const group = (key: string, schema: Json): Json => closed({ [key]: schema }, [key])
  return {
    [`${name}_Field`]: {
      type: 'string',
      description: 'The declared fields. The server takes other paths into the data too.',
      enum: fields.map(([path]) => path),
    },
    [`${name}_Filter`]: {
      description: 'A condition, or a group of them.',
      anyOf: [
        ...conditions(fields),
        ...['and', 'or'].map((key) => group(key, { type: 'array', items: ref('Filter'), minItems: 1 })),
        group('not', ref('Filter')),
        ...['some', 'none'].map((key) => group(key, { $ref: '#/components/schemas/LinkedCondition' })),
        // The fields that have no place in the list.
        ...(paths.length === LIMITS.openapiFilterFields ? [{ $ref: '#/components/schemas/Filter' }] : []),
      ],
    },
    [`${name}_Sort`]: closed(
      { field: ref('Field'), direction: { type: 'string', enum: ['asc', 'desc'], default: 'asc' } },
      ['field'],
    ),
  }
}

const closed = (properties: Json, required: readonly string[]): Json => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

/** One condition for the fields that are compared with the same values. */
function conditions(fields: readonly (readonly [string, Shape])[]): Json[] {
  const groups = new Map<string, { paths: string[]; forms: readonly Operand[] }>()
  for (const [path, shape] of fields) {
    const forms = operands(withoutNull(shape))
    const key = JSON.stringify(forms)
    const group = groups.get(key) ?? { paths: [], forms }
    group.paths.push(path)
    groups.set(key, group)
  }
  return [...groups.values()].flatMap(({ paths, forms }) =>
    forms.map(({ op, value }) =>
      closed({ field: { type: 'string', enum: paths }, op: { type: 'string', enum: op }, value }, [
        'field',
        'op',
      ]),
    ),
  )
}

/** Operators, and the values that they compare a field with. */
type Operand = { op: readonly string[]; value: Json }

function operands(shape: Shape): Operand[] {
  const kind = onlyKind(shape)
  if (!kind || kind === 'null') return [{ op: OPERATOR_NAMES, value: {} }]
  const all = operatorsFor(kind)
  const single = scalarOf(kind === 'array' ? (shape.items ?? ANY) : shape)
  if (!single) return [{ op: all, value: {} }]
  const value = { anyOf: [single, { type: 'array', items: single }, { type: 'null' }] }
  if (kind !== 'string' || single['enum'] === undefined) return [{ op: all, value }]
  const exact = all.filter((op) => !TEXT_OPERATORS.some((each) => each === op))
  return [
    { op: exact, value },
    { op: TEXT_OPERATORS, value: { type: 'string' } },
  ]
}

/** The schema of scalars; undefined for other values. */
function scalarOf(shape: Shape): Json | undefined {
  const kind = onlyKind(shape)
  if (kind !== 'string' && kind !== 'number' && kind !== 'boolean') return undefined
  const { values } = shape
  return values && values.length > 0 && values.length <= LIMITS.openapiFilterValues
    ? { type: kind, enum: values.filter((value) => value !== null) }
    : { type: kind }
}
