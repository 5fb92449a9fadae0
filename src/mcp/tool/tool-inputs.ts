/** Input schemas of type tools, and the mapping of their arguments to record data. */

import { NULLABLE } from '../../schema-shape/descriptions.ts'
import { type Projection, restoreNames } from '../../schema-shape/portable-schema.ts'
import { type PortableSchema, TAKES } from '../../schema-shape/publish.ts'

/** Reserved arguments, next to the type's properties. The server instructions explain them, once for all tools. */
const RESERVED = {
  id: { type: 'string' },
  expected_version: { type: 'integer' },
  external_id: { type: 'string' },
  external_source: { type: 'string' },
  idempotency_key: { type: 'string' },
  dry_run: { type: 'boolean' },
  claim_id: { type: 'string' },
  clear: {
    type: 'array',
    items: { type: 'string' },
    description: 'Properties to empty. Some clients drop null.',
  },
  append: { type: 'object', description: 'Members to append to lists: {"tags": ["x"]}.' },
  remove: { type: 'object', description: 'Members to remove from lists.' },
  relationships: {
    type: 'array',
    // Closed, since strict clients leave out tools with open objects. Calls may send what REST takes besides.
    items: {
      type: 'object',
      properties: { rel_type: { type: 'string' }, record_type: { type: 'string' }, id: { type: 'string' } },
      required: ['rel_type', 'record_type', 'id'],
      additionalProperties: false,
    },
  },
} as const satisfies Record<string, PortableSchema>
export type Reserved = keyof typeof RESERVED

export type ToolInput = {
  schema: PortableSchema
  /** Reserved argument to its published name. */
  reserved: ReadonlyMap<Reserved, string>
  projection: Projection
}

const CREATES = ['external_id', 'external_source', 'relationships', 'idempotency_key', 'dry_run'] as const
const UPDATES = [
  'id',
  'clear',
  'append',
  'remove',
  'expected_version',
  'claim_id',
  'idempotency_key',
  'dry_run',
] as const
/** Reserved arguments that an address does not have. */
type Without = readonly Reserved[]

const but = (names: readonly Reserved[], without: Without) => names.filter((name) => !without.includes(name))

/** Input of `create_<type>`: properties and reserved arguments, flat. */
export function createInput(projection: Projection, without: Without = []): ToolInput {
  const { properties, required } = projection.schema
  const reserved = freeNames(but(CREATES, without), projection)
  const schema = { ...rootOf(projection), properties: { ...properties, ...published(reserved) } }
  return { schema: required ? { ...schema, required } : schema, reserved, projection }
}

/** Input of `upsert_<type>`: as create, plus `id` or external id to find an existing record. */
export function upsertInput(projection: Projection, without: Without = []): ToolInput {
  const created = createInput(projection, without)
  const reserved = freeNames(['id', 'expected_version', ...created.reserved.keys()], projection)
  const schema = {
    ...created.schema,
    properties: { ...published(reserved), ...projection.schema.properties },
  }
  return { schema, reserved, projection }
}

/** Restricts a projection to some properties, by original name. `preset` properties are not required. */
export function partOf(
  projection: Projection,
  visible: readonly string[] | null,
  preset: readonly string[],
): Projection {
  if (visible === null && preset.length === 0) return projection
  const { properties = {}, required = [], ...rest } = projection.schema
  const own = (name: string) => projection.properties.get(name) ?? name
  const isShown = (name: string) => visible === null || visible.includes(own(name))
  const needed = required.filter((name) => isShown(name) && !preset.includes(own(name)))
  return {
    ...projection,
    schema: {
      // What is said of the whole object can name hidden properties.
      ...(visible === null ? rest : rest.type && { type: rest.type }),
      properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isShown(name))),
      ...(needed.length > 0 && { required: needed }),
      ...(visible !== null && { additionalProperties: false }),
    },
    properties: new Map([...projection.properties].filter(([name]) => isShown(name))),
  }
}

/** Input of `update_<type>`: a merge patch of any properties, at any depth. */
export function updateInput(projection: Projection, without: Without = []): ToolInput {
  const lists: Without = projection.open || hasLists(projection.schema) ? [] : ['append', 'remove']
  const patch = patchable(projection.schema)
  const reserved = freeNames(but(UPDATES, [...without, ...lists]), projection)
  const { [reserved.get('id') ?? 'id']: id, ...others } = published(reserved)
  const schema = {
    ...rootOf({ schema: patch }),
    properties: {
      ...(id && { [reserved.get('id') ?? 'id']: id }),
      ...patch.properties,
      ...others,
    },
    required: [reserved.get('id') ?? 'id'],
  }
  return { schema, reserved, projection }
}

/** Splits arguments into reserved ones and record data, both under their original names. */
export function splitArguments(
  input: ToolInput,
  args: Record<string, unknown>,
): { reserved: Partial<Record<Reserved, unknown>>; data: Record<string, unknown> } {
  const sent = [...input.reserved].filter(([, name]) => Object.hasOwn(args, name))
  const taken = new Set(sent.map(([, name]) => name))
  const data =
    taken.size === 0 ? args : Object.fromEntries(Object.entries(args).filter(([name]) => !taken.has(name)))
  return {
    reserved: Object.fromEntries(sent.map(([meaning, name]) => [meaning, args[name]])),
    data: restoreNames(data, input.projection),
  }
}

/** The root without `required` and property counts, which reserved arguments would break. */
function rootOf({ schema }: Pick<Projection, 'schema'>): PortableSchema {
  const { minProperties: _min, maxProperties: _max, required: _required, ...root } = schema
  return root
}

/** On a name clash, the type's property keeps its name and the reserved argument gets a prefix. */
function freeNames(wanted: readonly Reserved[], { properties }: Projection): Map<Reserved, string> {
  const free = (name: string): string => (properties.has(name) ? free(`_${name}`) : name)
  return new Map(wanted.map((name) => [name, free(name)]))
}

function published(reserved: ReadonlyMap<Reserved, string>): Record<string, PortableSchema> {
  return Object.fromEntries(
    [...reserved].map(([name, publishedName]) => {
      const isRenamed = publishedName !== name
      const description = `The option "${name}" of the tool, not the property.`
      return [publishedName, { ...RESERVED[name], ...(isRenamed && { description }) }]
    }),
  )
}

/**
 * The schema of a merge patch: objects merge, so nothing in them is required or counted, and defaults would
 * overwrite stored values. Arrays are replaced as a whole and keep their constraints.
 */
function patchable(schema: PortableSchema): PortableSchema {
  const { required: _r, minProperties: _min, maxProperties: _max, default: _default, ...kept } = schema
  const { properties, additionalProperties: rest, description } = kept
  const words = description?.replace(NULLABLE, '').trim()
  const { description: _description, ...patch } = kept
  return {
    ...patch,
    ...(words && { description: words }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, patchable(property)]),
      ),
    }),
    ...(rest !== undefined && { additionalProperties: typeof rest === 'object' ? patchable(rest) : rest }),
  }
}

/** Whether a property is a list, at any depth of objects. */
const hasLists = ({ type, properties = {}, [TAKES]: kinds }: PortableSchema): boolean =>
  type === 'array' || kinds?.includes('array') === true || Object.values(properties).some(hasLists)
