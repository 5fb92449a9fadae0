import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { VersionedCache } from '../../foundation/versioned-cache.ts'
import { type Context, grantsName, mayWrite } from '../../graphql/context.ts'
import { graphql, type ResultOf } from '../../graphql/document.ts'
import { compile } from '../../graphql/execute.ts'
import { clean } from '../../schema-shape/descriptions.ts'
import { type Projection, projectInTurns } from '../../schema-shape/portable-schema.ts'
import { estimateTokens } from '../budget/fit.ts'
import { recordOutput } from '../tool/page-arguments.ts'
import type { ToolDefinition } from '../tool/tool-definition.ts'
import {
  createInput,
  partOf,
  type Reserved,
  type ToolInput,
  updateInput,
  upsertInput,
} from '../tool/tool-inputs.ts'

const Version = graphql(
  `query ToolTypesVersion($base: String!) { base(id: $base) { typesVersion createdAt } }`,
)
const Types = graphql(`query ToolTypes($base: String!, $limit: Int, $offset: Int) {
  recordTypes(base: $base, limit: $limit, offset: $offset) { data { id portableId name description jsonSchema createdAt } hasMore }
}`)
const readVersion = compile(Version)
const readTypes = compile(Types)
/** The fields of a record type that its tools need. */
export type RecordType = ResultOf<typeof Types>['recordTypes']['data'][number]

/** A type tool: `create_<type>` or `update_<type>`, and `upsert_<type>` at endpoints. */
export type TypedTool = {
  definition: ToolDefinition
  operation: 'create' | 'update' | 'upsert'
  recordType: string
  input: ToolInput
}
/** The type tools of a base, cached by types version and grants. */
export type TypedTools = {
  all: ReadonlyMap<string, TypedTool>
  /** The `create_<type>` tools, or none if they exceed the token limit. */
  creates: readonly ToolDefinition[]
}

/**
 * The type tools of a list. An address that names tools or types lists them at any cost in tokens. Otherwise,
 * all `create_<type>` or none.
 */
export function listedOf({ all, creates }: TypedTools, { tools, types }: Named): readonly ToolDefinition[] {
  if (tools === null && types === null) return creates
  return withinLimit([...all.values()].filter(({ definition }) => tools?.includes(definition.name) ?? true))
}
type Named = { tools: readonly string[] | null; types: readonly string[] | null }

function fitting(tools: readonly TypedTool[]): ToolDefinition[] {
  // Estimate one by one and stop early, because all definitions together can be megabytes.
  let left = LIMITS.typedToolTokens
  for (const { definition } of tools) {
    left -= estimateTokens(definition)
    if (left < 0) return []
  }
  return tools.map((tool) => tool.definition)
}

/** Above the limit, tools are listed without the properties of their types. */
function withinLimit(tools: readonly TypedTool[]): ToolDefinition[] {
  let left = LIMITS.namedToolTokens
  return tools.map((tool) => {
    left -= estimateTokens(tool.definition)
    return left < 0 ? withoutProperties(tool) : tool.definition
  })
}

function withoutProperties({ definition, input, recordType }: TypedTool): ToolDefinition {
  const { properties = {}, required = [] } = input.schema
  const names = [...input.reserved.values()]
  const said = `describe_type shows the properties of ${recordType}.`
  return {
    ...definition,
    description: `${definition.description} ${said}`,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, properties[name] ?? {}])),
      required: required.filter((name) => names.includes(name)),
      additionalProperties: true,
    },
  }
}

const cache = new VersionedCache<TypedTools>(LIMITS.toolCacheChars)

/** The write tools of the types that the token may write. */
export async function typedTools(base: string, context: Context): Promise<TypedTools> {
  return cache.of(keyOf(base, context), await versionOf(base, context), async () => {
    const all = new Map<string, TypedTool>()
    for (const type of await writableTypes(base, context))
      for (const tool of await toolsOf(type)) all.set(tool.definition.name, tool)
    const creates = [...all.values()].filter(({ operation }) => operation === 'create')
    return { value: { all, creates: fitting(creates) }, chars: await charsOf(all.values()) }
  })
}

const keyOf = (base: string, context: Context): string => `${base}\n${grantsName(context)}`

async function versionOf(base: string, context: Context): Promise<string> {
  const { typesVersion, createdAt } = (await readVersion({ base }, context)).base
  return `${createdAt}\n${typesVersion}`
}

const writableTypes = async (base: string, context: Context): Promise<RecordType[]> =>
  (await allTypes(base, context)).filter((type) => mayWrite(context, base, type.id))

/** Characters of the definitions of tools: the size of a cache entry. */
export async function charsOf(tools: Iterable<{ readonly definition: ToolDefinition }>): Promise<number> {
  let chars = 1
  for (const { definition } of tools) {
    if (turnIsOver()) await nextTurn()
    chars += JSON.stringify(definition).length
  }
  return chars
}

/** What an entry takes besides its tool: callers choose the names. */
const ENTRY_CHARS = 1000
/** Single tools, by their name too; undefined for a name that no type has. */
const named = new VersionedCache<{ tool: TypedTool | undefined }>(LIMITS.toolCacheChars)

/**
 * Finds a type tool by name. The cache may be a second old; the call validates against the current type. Where the
 * tools are not made yet, this makes the named one alone: those of all types can take seconds.
 */
export async function typedTool(
  base: string,
  name: string,
  context: Context,
): Promise<TypedTool | undefined> {
  const key = keyOf(base, context)
  const ofName = `${key}\n${name}`
  // A type may have been created since, so a name that they lack is looked up.
  const recent =
    cache.recent(key, LIMITS.recentTypesMs)?.all.get(name) ?? named.recent(ofName, LIMITS.recentTypesMs)?.tool
  if (recent) return recent
  const version = await versionOf(base, context)
  const tools = cache.get(key, version)
  if (tools) return tools.all.get(name)
  const { tool } = await named.of(ofName, version, async () => {
    const type = (await writableTypes(base, context)).findLast((each) => namesOf(each).includes(name))
    const tool = type && (await toolsOf(type)).find(({ definition }) => definition.name === name)
    return { value: { tool }, chars: ENTRY_CHARS + ofName.length + (await charsOf(tool ? [tool] : [])) }
  })
  return tool
}

/** All types of the base that the token may read. */
export async function allTypes(base: string, context: Context): Promise<RecordType[]> {
  const types: RecordType[] = []
  for (let more = true; more; ) {
    const page = (await readTypes({ base, limit: LIMITS.pageMax, offset: types.length }, context)).recordTypes
    types.push(...page.data)
    more = page.hasMore
  }
  return types.sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** The operations that have a tool at the address of a base. */
const OPERATIONS = ['create', 'update'] as const
const nameOf = (operation: TypedTool['operation'], { portableId }: RecordType) => `${operation}_${portableId}`
const namesOf = (type: RecordType): string[] => OPERATIONS.map((operation) => nameOf(operation, type))

async function toolsOf(type: RecordType): Promise<TypedTool[]> {
  const tools: TypedTool[] = []
  for (const operation of OPERATIONS) {
    const name = nameOf(operation, type)
    const description = `${wordsOf(type, operation)}${aboutType(type)}`
    tools.push(await typedToolOf(type, operation, { name, description, visible: null, preset: [] }))
  }
  return tools
}

const TITLES = { create: 'Create', update: 'Update', upsert: 'Upsert' } as const
const INPUTS = { create: createInput, update: updateInput, upsert: upsertInput }

/** The first sentence of a tool description. */
export function wordsOf({ id }: RecordType, operation: TypedTool['operation']): string {
  if (operation === 'create') return `Create a record of type "${id}".`
  if (operation === 'update') return `Update a record of type "${id}": merge the given properties.`
  return `Replace or create a record of type "${id}", by id or external_id; without either, create.`
}

/** The type's own description, with a leading space. */
export const aboutType = ({ description }: RecordType): string =>
  description ? ` ${clean(description, 600)}` : ''

/** The type's name in titles. */
export const labelOf = ({ name, id }: RecordType): string => clean(name, 100) || id

/** Projection cache: the tools of a type share one projection, which is slow to compute for large schemas. */
const projections = new WeakMap<RecordType, Projection>()

async function projectionOf(type: RecordType): Promise<Projection> {
  const known = projections.get(type)
  if (known) return known
  const made = await projectInTurns(type.jsonSchema)
  projections.set(type, made)
  return made
}

/**
 * Builds a write tool of the type. `shown` restricts its properties, by their names in the record; null for
 * all.
 */
export async function typedToolOf(
  type: RecordType,
  operation: TypedTool['operation'],
  as: {
    name: string
    description: string
    visible: readonly string[] | null
    preset: readonly string[]
    without?: readonly Reserved[]
  },
): Promise<TypedTool> {
  const projection = await projectionOf(type)
  if (turnIsOver()) await nextTurn()
  const input = INPUTS[operation](partOf(projection, as.visible, as.preset), as.without)
  return {
    operation,
    recordType: type.id,
    input,
    definition: {
      name: as.name,
      description: as.description,
      inputSchema: input.schema,
      outputSchema: recordOutput,
      annotations: {
        title: `${TITLES[operation]} ${labelOf(type)}`,
        readOnlyHint: false,
        destructiveHint: operation !== 'create',
        idempotentHint: operation === 'update',
        openWorldHint: false,
      },
    },
  }
}
