/** Reads the keywords of one schema into a shape, without references and composition. */
import { isObject } from '../foundation/is-object.ts'
import { combineAll, union } from './combine.ts'
import { listed, phrase, sentence } from './descriptions.ts'
import type { References } from './refs.ts'
import {
  ANY,
  BOUND_NAMES,
  BOUNDS,
  type Bound,
  type Budget,
  isOf,
  KINDS,
  type Kind,
  kindOf,
  NEVER,
  type ObjectShape,
  type Shape,
  type Traits,
} from './shape.ts'

/** State of the schema reader: position, and remaining budget. */
export type ReadState = {
  references: References
  draft07: boolean
  budget: Budget
  /** Remaining levels of nesting. */
  levels: number
  /** The schema resource that `#` refers to. */
  resource: unknown
  /** References followed on the way to this value; a repeat is an infinite loop. */
  following: ReadonlySet<unknown>
  /** References followed on the way to the enclosing values. */
  around: readonly unknown[]
  warn: (message: string) => void
}

type Schema = Record<string, unknown>
type ReadBelow = (schema: unknown) => Shape

/** Keywords without a portable form. The server enforces them, and the description mentions them. */
const UNSAID = [
  'not',
  'if',
  'contains',
  'patternProperties',
  'propertyNames',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
]

/** The shape of a schema's own keywords. `below` reads the schemas of properties and items. */
export function readOwn(schema: Schema, reading: ReadState, below: ReadBelow): Shape {
  const values = valuesOf(schema, reading)
  const kinds = kindsOf(schema)
  const traits = traitsOf(schema)
  const fitting = values?.filter((value) => isOf({ kinds, traits }, value))
  const notes = UNSAID.some((keyword) => keyword in schema) ? ['More rules apply than shown.'] : []
  const shape: Shape = {
    ...ANY,
    kinds: fitting ? new Set(fitting.map(kindOf)) : kinds,
    values: fitting,
    bounds: boundsOf(schema),
    traits,
    notes: schema['deprecated'] === true ? [...notes, 'Deprecated.'] : notes,
    ...annotationsOf(schema),
  }
  const list = listOf(schema, reading, below)
  const object = objectOf(schema, reading, below)
  return {
    ...shape,
    ...list,
    object: object.shape,
    bounds: { ...shape.bounds, ...list.bounds },
    notes: [...shape.notes, ...list.notes, ...object.notes],
  }
}

function kindsOf({ type, nullable }: Schema): ReadonlySet<Kind> {
  if (type === undefined) return ANY.kinds
  const types: readonly unknown[] = Array.isArray(type) ? type : type === undefined ? KINDS : [type]
  const kinds = KINDS.filter(
    (kind) => types.includes(kind) || (kind === 'number' && types.includes('integer')),
  )
  return new Set(nullable === true ? ['null', ...kinds] : kinds)
}

function valuesOf(schema: Schema, reading: ReadState): readonly unknown[] | undefined {
  const listed = Array.isArray(schema['enum']) ? schema['enum'] : undefined
  reading.budget.spend((listed?.length ?? 0) >> 4)
  if ('const' in schema) return [schema['const']]
  return listed
}

function boundsOf(schema: Schema): Shape['bounds'] {
  const bounds: Partial<Record<Bound, number>> = {}
  for (const name of BOUND_NAMES) {
    const bound = schema[name]
    if (typeof bound !== 'number' || !Number.isFinite(bound)) continue
    if (BOUNDS[name].kind === 'number' || (Number.isInteger(bound) && bound >= 0)) bounds[name] = bound
  }
  return bounds
}

function traitsOf({ type, multipleOf, pattern, format, uniqueItems }: Schema): Traits {
  const types = Array.isArray(type) ? type : [type]
  return {
    ...(types.includes('integer') && !types.includes('number') ? { integer: true } : {}),
    ...(typeof multipleOf === 'number' && multipleOf > 0 ? { multipleOf } : {}),
    ...(typeof pattern === 'string' ? { pattern } : {}),
    ...(typeof format === 'string' ? { format } : {}),
    ...(uniqueItems === true ? { uniqueItems } : {}),
  }
}

function annotationsOf(schema: Schema): Pick<Shape, 'description' | 'default' | 'examples'> {
  const words = [schema['description'], schema['title']].find(
    (text) => typeof text === 'string' && text.trim(),
  )
  return {
    description: typeof words === 'string' ? words : undefined,
    default: schema['default'],
    examples: Array.isArray(schema['examples']) ? schema['examples'].slice(0, 3) : [],
  }
}

/**
 * Reads the items of an array. A tuple becomes one loose item schema, and the description lists its
 * positions.
 */
function listOf(schema: Schema, reading: ReadState, below: ReadBelow) {
  const { items, prefixItems, additionalItems } = schema
  const tuple = Array.isArray(items)
    ? items
    : !reading.draft07 && Array.isArray(prefixItems)
      ? prefixItems
      : []
  const rest = Array.isArray(items) ? additionalItems : items
  if (reading.levels <= 0) return { items: undefined, bounds: {}, notes: [] }
  const after = rest === undefined ? undefined : below(rest)
  if (tuple.length === 0) return { items: after, bounds: {}, notes: [] }
  const positions = tuple.map(below)
  const notes = [
    `In order: ${positions
      .slice(0, 8)
      .map((shape) => phrase(shape))
      .join(', ')}.`,
  ]
  const bounds = rest === false ? { maxItems: Math.min(tuple.length, maxItemsOf(schema)) } : {}
  return { items: combineAll(union, [...positions, after ?? ANY], reading.budget), bounds, notes }
}

function maxItemsOf({ maxItems }: Schema): number {
  return typeof maxItems === 'number' && Number.isInteger(maxItems) ? maxItems : Number.POSITIVE_INFINITY
}

function objectOf(
  schema: Schema,
  reading: ReadState,
  below: ReadBelow,
): { shape: ObjectShape; notes: string[] } {
  const { additionalProperties, patternProperties, required } = schema
  const declared = isObject(schema['properties']) ? schema['properties'] : {}
  // Assigning `__proto__` would replace the prototype.
  const names = Object.keys(declared).filter((name) => name !== '__proto__')
  const open = ANY.object
  reading.budget.spend(names.length >> 2)
  if (reading.levels <= 0) {
    const notes = names.length > 0 ? [sentence(`holds ${listed(names)}`)] : []
    return { shape: { ...open, more: true }, notes }
  }
  const patterned = isObject(patternProperties) && Object.keys(patternProperties).length > 0
  const rest = additionalProperties === undefined || patterned ? undefined : additionalProperties
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
  return {
    shape: {
      properties: new Map(names.map((name) => [name, below(declared[name])])),
      required: new Set(needed.filter((name) => name !== '__proto__')),
      additional: rest === undefined || rest === true ? undefined : rest === false ? NEVER : below(rest),
      more: patterned || (additionalProperties !== undefined && additionalProperties !== false),
    },
    notes: [],
  }
}
