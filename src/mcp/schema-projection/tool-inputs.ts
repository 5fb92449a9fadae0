/** The input schemas of a type's own tools, and what their arguments mean. */

import { NULLABLE } from './descriptions.ts'
import { type Projection, restoreNames } from './project.ts'
import type { PortableSchema } from './publish.ts'

/** Arguments with a meaning of their own beside the type's properties. */
const RESERVED = {
  id: { type: 'string', description: 'Id of the record.' },
  expected_version: { type: 'integer', description: 'Refuse unless the record is at this version.' },
  external_id: { type: 'string', description: "The record's id in another system." },
  external_source: { type: 'string', description: 'The system that id comes from.' },
  idempotency_key: {
    type: 'string',
    description: 'A retry with the same key answers as before, writing once.',
  },
  dry_run: { type: 'boolean', description: 'Say what would happen, and write nothing.' },
} as const satisfies Record<string, PortableSchema>
export type Reserved = keyof typeof RESERVED

export type ToolInput = {
  schema: PortableSchema
  /** Each reserved argument to the name it is published under. */
  reserved: ReadonlyMap<Reserved, string>
  projection: Projection
}

const CLEARS = 'null clears it.'

/** Flat arguments that create a record: its properties and the reserved ones. */
export function createInput(projection: Projection): ToolInput {
  const { properties, required } = projection.schema
  const reserved = freeNames(['external_id', 'external_source', 'idempotency_key', 'dry_run'], projection)
  const schema = { ...rootOf(projection), properties: { ...properties, ...published(reserved) } }
  return { schema: required ? { ...schema, required } : schema, reserved, projection }
}

/** The same for a record that may be there already, named by its id or by that of another system. */
export function upsertInput(projection: Projection): ToolInput {
  const created = createInput(projection)
  const reserved = freeNames(['id', 'expected_version', ...created.reserved.keys()], projection)
  const schema = {
    ...created.schema,
    properties: { ...published(reserved), ...projection.schema.properties },
  }
  return { schema, reserved, projection }
}

/** The projection with these properties only, by the record's own names; `preset` ones need not be sent. */
export function partOf(
  projection: Projection,
  shown: readonly string[] | null,
  preset: readonly string[],
): Projection {
  if (shown === null && preset.length === 0) return projection
  const { properties = {}, required = [], ...rest } = projection.schema
  const own = (name: string) => projection.properties.get(name) ?? name
  const isShown = (name: string) => shown === null || shown.includes(own(name))
  const needed = required.filter((name) => isShown(name) && !preset.includes(own(name)))
  return {
    ...projection,
    schema: {
      ...rest,
      properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isShown(name))),
      ...(needed.length > 0 && { required: needed }),
      ...(shown !== null && { additionalProperties: false }),
    },
    properties: new Map([...projection.properties].filter(([name]) => isShown(name))),
  }
}

/** Flat arguments that change a record by merge-patch: any of its properties, at any depth. */
export function updateInput(projection: Projection): ToolInput {
  const patch = patchable(projection.schema)
  const needed = new Set(projection.schema.required)
  const changes = Object.entries(patch.properties ?? {}).map(([name, property]) => [
    name,
    needed.has(name) ? property : { ...property, description: joined(property.description, CLEARS) },
  ])
  const reserved = freeNames(['id', 'expected_version', 'idempotency_key', 'dry_run'], projection)
  const { [reserved.get('id') ?? 'id']: id, ...others } = published(reserved)
  const schema = {
    ...rootOf({ schema: patch }),
    properties: {
      ...(id && { [reserved.get('id') ?? 'id']: id }),
      ...Object.fromEntries(changes),
      ...others,
    },
    required: [reserved.get('id') ?? 'id'],
  }
  return { schema, reserved, projection }
}

/** Takes a call's arguments apart: the reserved ones by their own names, and the record's data by its. */
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

/** The root without its counts, which reserved arguments would upset. */
function rootOf({ schema }: Pick<Projection, 'schema'>): PortableSchema {
  const { minProperties: _min, maxProperties: _max, required: _required, ...root } = schema
  return root
}

/** A type's property keeps its name; the reserved argument steps aside. */
function freeNames(wanted: readonly Reserved[], { properties }: Projection): Map<Reserved, string> {
  const free = (name: string): string => (properties.has(name) ? free(`_${name}`) : name)
  return new Map(wanted.map((name) => [name, free(name)]))
}

function published(reserved: ReadonlyMap<Reserved, string>): Record<string, PortableSchema> {
  return Object.fromEntries([...reserved].map(([name, publishedName]) => [publishedName, RESERVED[name]]))
}

/**
 * A merge-patch of what the schema describes: objects merge, so nothing in them is required or counted,
 * and a default would overwrite what is stored. Arrays are replaced whole and keep their rules.
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

const joined = (...sentences: (string | undefined)[]) => sentences.filter(Boolean).join(' ')
