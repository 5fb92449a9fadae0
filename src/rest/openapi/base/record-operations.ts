/** Operations on records, written once as templates and filled in for each record type. */
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { aggregates } from '../../aggregates.ts'
import { claims } from '../../claims.ts'
import { records } from '../../records/routes.ts'
import type { Route } from '../../route/route.ts'
import type { Json } from '../json-schema.ts'
import { operation, templateOf } from '../operation.ts'
import type { DescribedType } from './type-schemas.ts'

/** Routes with a path of their own for each type. */
export const OF_TYPE: readonly Route[] = [
  ...records,
  ...aggregates,
  ...claims.filter(({ path }) => path.endsWith('/:record_type/claim')),
]

// Characters for private use stand for what differs between types.
const [NAME, ID, NOUN] = ['\uE000', '\uE001', '\uE002']

/** The components of a record in answers, and what they are for a type. `One` and `Found` are answers of reads. */
const ANSWERS: Readonly<Record<string, string>> = {
  StoredRecord: 'Record',
  WrittenRecord: 'Written',
  PutRecord: 'Put',
  OneRecord: 'One',
  FoundRecord: 'Found',
}
const isOfRead = (component: string) => component === 'OneRecord' || component === 'FoundRecord'
const columnsOf = (component: string) => `${component}Columns`

export type Templates = {
  /** Items of paths, as members of JSON text: of tokens that read, and of those that write too. */
  readonly paths: Readonly<Record<'read' | 'write', string>>
  readonly schemas: Readonly<Record<'read' | 'write', string>>
}

/** Components that several operations share, by content. */
export class Shared {
  readonly parameters: Record<string, Json> = {}
  readonly schemas: Record<string, Json> = {}
  readonly #names = new Map<string, string>()

  /** A reference to a component. Another one of the same name has a number. */
  add(kind: 'parameters' | 'schemas', name: string, content: Json): Json {
    const text = `${kind} ${name} ${JSON.stringify(content)}`
    let known = this.#names.get(text)
    for (let n = 1; known === undefined; n++) {
      const free = n === 1 ? name : `${name}.${n}`
      if (Object.hasOwn(this[kind], free)) continue
      this[kind][free] = content
      this.#names.set(text, free)
      known = free
    }
    return { $ref: `#/components/${kind}/${known}` }
  }
}

/** Whether the route needs `write`. */
export const isWrite = ({ spec }: Route): boolean => {
  const need = spec.need({ base_id: 'b', record_type: 't', id: 'i' })
  return need !== null && 'permission' in need && need.permission !== 'read'
}

/** The templates of a base. Components that they refer to are added to `shared`, and those of all bases to `schemas`. */
export async function templates(base: string, shared: Shared, schemas: Json): Promise<Templates> {
  const items = { read: new Map<string, Json>(), write: new Map<string, Json>() }
  for (const row of OF_TYPE) {
    if (turnIsOver()) await nextTurn()
    const path = `/v1${templateOf(row.path)}`.replace('{base_id}', base).replace('{record_type}', ID)
    const typed = typedOperation(row, operation(row, schemas), shared, schemas)
    for (const right of isWrite(row) ? (['write'] as const) : (['read', 'write'] as const))
      items[right].set(path, { ...items[right].get(path), [row.method.toLowerCase()]: typed })
  }
  const textOf = (members: Iterable<readonly [string, Json]>) =>
    JSON.stringify(Object.fromEntries(members)).slice(1, -1)
  const answers = (components: readonly string[]) =>
    textOf(components.map((component) => [`${NAME}_${ANSWERS[component]}`, answerOf(component, schemas)]))
  const all = Object.keys(ANSWERS)
  for (const component of all) shared.schemas[columnsOf(component)] = columns(schemas[component] as Json)
  return {
    paths: { read: textOf(items.read), write: textOf(items.write) },
    schemas: { read: answers(all.filter(isOfRead)), write: answers(all) },
  }
}

/** A template for one type. */
export const fill = (template: string, { name, id }: DescribedType, noun: string): string =>
  template.replaceAll(NAME, name).replaceAll(ID, id).replaceAll(NOUN, noun)

function typedOperation(row: Route, plain: Json, shared: Shared, schemas: Json): Json {
  const { operationId, description, parameters, requestBody, ...rest } = plain
  const isList = /\/(query|claim)$/.test(row.path)
  const [noun, verb] = String(operationId).split('.')
  const body = requestBody as { content: Record<string, { schema: Json }> } | undefined
  return {
    ...typed({ ...rest, tags: [ID] }, schemas),
    operationId: `${NOUN}.${noun === 'records' ? verb : noun?.replace(/s$/, '')}`,
    description: ownDescription(description),
    parameters: withoutTarget(parameters as Json[]).map((each) =>
      shared.add('parameters', String(each['name']), each),
    ),
    ...(body && {
      requestBody: {
        ...body,
        content: Object.fromEntries(
          Object.entries(body.content).map(([type, { schema }]) => [
            type,
            { schema: typedBody(schema, isList, shared) },
          ]),
        ),
      },
    }),
  }
}

/** Without the other spellings of the path. */
export const ownDescription = (description: unknown): string =>
  String(description).replace(/ ?Also served as .*$/, '')

/** Parameters without those that the path has filled in, and without examples, which have the types of another base. */
export const withoutTarget = (parameters: readonly Json[]): Json[] =>
  parameters
    .filter(({ in: place, name }) => place !== 'path' || (name !== 'base_id' && name !== 'record_type'))
    .map(({ example: _, ...parameter }) => parameter)

/** The schema of a body, with the data, the filter and the fields of the type. */
function typedBody(schema: Json, isList: boolean, shared: Shared): Json {
  const properties = schema['properties'] as Record<string, Json> | undefined
  if (!properties) return schema
  const own = (suffix: string) => ({ $ref: `#/components/schemas/${NAME}_${suffix}` })
  const isPatch = properties['append'] !== undefined
  const typedProperty = (name: string, property: Json): Json => {
    if (name === 'data') return own(isPatch ? 'Patch' : 'Input')
    if (name === 'filter') return own('Filter')
    if (isList && name === 'fields') return { ...property, items: own('Field') }
    if (isList && name === 'sort')
      return JSON.parse(
        JSON.stringify(property).replace('schemas/SortTerm"', `schemas/${NAME}_Sort"`),
      ) as Json
    return '$ref' in property ? property : shared.add('schemas', name, property)
  }
  return {
    ...schema,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, typedProperty(name, property)]),
    ),
  }
}

/** Refers to the records of the type. */
function typed(plain: Json, schemas: Json): Json {
  const text = JSON.stringify(plain)
    .replace('{"$ref":"#/components/schemas/ClaimedRecords"}', () =>
      JSON.stringify(schemas['ClaimedRecords']),
    )
    .replace(/"#\/components\/schemas\/(\w+)"/g, (whole, name: string) =>
      ANSWERS[name] ? `"#/components/schemas/${NAME}_${ANSWERS[name]}"` : whole,
    )
  return JSON.parse(text) as Json
}

function answerOf(component: string, schemas: Json): Json {
  const { required = [] } = schemas[component] as { required?: readonly string[] }
  return {
    allOf: [
      { $ref: `#/components/schemas/${columnsOf(component)}` },
      {
        type: 'object',
        properties: {
          record_type: { type: 'string', const: ID },
          data: { $ref: `#/components/schemas/${NAME}_Data` },
        },
        required: required.filter((name) => name === 'record_type' || name === 'data'),
      },
    ],
  }
}

/** What the records of all types have in common. */
function columns(component: Json): Json {
  const { record_type: _, data: __, ...properties } = component['properties'] as Json
  const required = ((component['required'] ?? []) as string[]).filter((name) =>
    Object.hasOwn(properties, name),
  )
  return { type: 'object', properties, ...(required.length > 0 && { required }) }
}
