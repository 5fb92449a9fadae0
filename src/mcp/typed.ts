import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { trim } from '../bodies.ts'
import { check, inBody } from '../check.ts'
import { withPaths } from '../errors.ts'
import { type Context, grantsName, mayWrite } from '../graphql/context.ts'
import { graphql, type ResultOf } from '../graphql/document.ts'
import { compile } from '../graphql/execute.ts'
import { LIMITS } from '../limits.ts'
import { decodeStringified } from './decode.ts'
import { projectSchema } from './projection/index.ts'
import { createInput, splitArguments, type ToolInput, updateInput } from './projection/inputs.ts'
import { publishPointer } from './projection/rename.ts'
import { clean } from './projection/words.ts'
import { create, patch } from './records.ts'
import { recordOutput } from './shapes.ts'
import { estimateTokens } from './tokens.ts'
import { asked, type ToolDefinition } from './tool.ts'

const Version = graphql(
  `query ToolTypesVersion($base: String!) { base(id: $base) { typesVersion createdAt } }`,
)
const Types = graphql(`query ToolTypes($base: String!, $limit: Int, $offset: Int) {
  recordTypes(base: $base, limit: $limit, offset: $offset) { data { id portableId name description jsonSchema createdAt } hasMore }
}`)
const readVersion = compile(Version)
const readTypes = compile(Types)
type RecordType = ResultOf<typeof Types>['recordTypes']['data'][number]

/** A tool of one record type: `create_<type>` or `update_<type>`. */
type TypedTool = {
  definition: ToolDefinition
  operation: 'create' | 'update'
  recordType: string
  input: ToolInput
}
/** The tools of a base's types, compiled once for each version of them and each set of grants. */
export type TypedTools = { all: ReadonlyMap<string, TypedTool>; listed: readonly ToolDefinition[] }

const cache = new LRUCache<string, TypedTools>({ max: 200 })

/** The tools of the types the token may write. They are listed all or none, while they fit. */
export async function typedTools(base: string, context: Context): Promise<TypedTools> {
  const { typesVersion, createdAt } = (await readVersion({ base }, context)).base
  const grants = grantsName(context)
  const key = [base, createdAt, typesVersion, grants].join('\n')
  const known = cache.get(key)
  if (known) recent.set(`${base}\n${grants}`, known)
  if (known) return known
  const types = (await allTypes(base, context)).filter((type) => mayWrite(context, base, type.id))
  const all = new Map(types.flatMap(toolsOf).map((tool) => [tool.definition.name, tool]))
  const definitions = [...all.values()].map((tool) => tool.definition)
  const fit = estimateTokens(definitions) <= LIMITS.typedToolTokens
  const tools = { all, listed: fit ? definitions : [] }
  cache.set(key, tools)
  recent.set(`${base}\n${grants}`, tools)
  return tools
}

const RECENT_MS = 1000
const recent = new LRUCache<string, TypedTools>({ max: 200, ttl: RECENT_MS })

/** The tool of that name. A set may be a second old: what the call says is checked against the type as it is. */
export async function typedTool(
  base: string,
  name: string,
  context: Context,
): Promise<TypedTool | undefined> {
  const known = recent.get(`${base}\n${grantsName(context)}`)?.all.get(name)
  return known ?? (await typedTools(base, context)).all.get(name)
}

async function allTypes(base: string, context: Context): Promise<RecordType[]> {
  const types: RecordType[] = []
  for (let more = true; more; ) {
    const page = (await readTypes({ base, limit: LIMITS.pageMax, offset: types.length }, context)).recordTypes
    types.push(...page.data)
    more = page.hasMore
  }
  return types.sort((a, b) => (a.id < b.id ? -1 : 1))
}

function toolsOf(type: RecordType): TypedTool[] {
  const projection = projectSchema(type.jsonSchema)
  const label = clean(type.name, 100) || type.id
  const about = type.description ? ` ${clean(type.description, 600)}` : ''
  const one = (operation: 'create' | 'update', input: ToolInput, description: string): TypedTool => ({
    operation,
    recordType: type.id,
    input,
    definition: {
      name: `${operation}_${type.portableId}`,
      description: `${description}${about}`,
      inputSchema: input.schema,
      outputSchema: recordOutput,
      annotations: {
        title: `${operation === 'create' ? 'Create' : 'Update'} ${label}`,
        readOnlyHint: false,
        destructiveHint: operation === 'update',
        idempotentHint: operation === 'update',
        openWorldHint: false,
      },
    },
  })
  return [
    one('create', createInput(projection), `Create a record of type "${type.id}".`),
    one(
      'update',
      updateInput(projection),
      `Change the named properties of a record of type "${type.id}"; null clears one.`,
    ),
  ]
}

const Reserved = z.strictObject({
  id: z.string().optional(),
  expected_version: z.int().min(1).optional(),
  external_id: z.string().optional(),
  external_source: z.string().optional(),
  idempotency_key: z.string().optional(),
  dry_run: z.boolean().optional(),
})

const ReservedOfUpdate = Reserved.required({ id: true })

/** Runs a tool of a type. @throws DomainError with paths relative to the arguments */
export async function callTyped(
  tool: TypedTool,
  base: string,
  args: Record<string, unknown>,
  context: Context,
): Promise<object> {
  const { input, operation, recordType, definition } = tool
  const { reserved, data } = splitArguments(input, decodeStringified(args, input.schema))
  const place = (path: string) => relative(path, input)
  try {
    const shape = operation === 'update' ? ReservedOfUpdate : Reserved
    const {
      id = '',
      expected_version,
      external_id,
      external_source,
      ...how
    } = check(shape, reserved, inBody())
    const call = asked(context, args, definition.name, how)
    const target = { base, recordType }
    if (operation === 'create') {
      const pair = {
        ...(external_id !== undefined && { externalId: external_id }),
        ...(external_source !== undefined && { externalSource: external_source }),
      }
      return trim((await create({ ...target, data, ...pair }, call)).createRecord)
    }
    const versions = expected_version === undefined ? {} : { expectedVersions: [expected_version] }
    return trim((await patch({ ...target, id, merge: data, ...versions }, call)).patchRecord)
  } catch (thrown) {
    throw withPaths(thrown, place)
  }
}

/** `/data/title` → `/title`, and reserved arguments, under the names that were published. */
function relative(path: string, { reserved, projection }: ToolInput): string {
  if (path === '/data' || path.startsWith('/data/'))
    return publishPointer(path.slice('/data'.length), projection.names)
  const name = /^\/([^/]+)$/.exec(path)?.[1]
  const published = [...reserved].find(([own]) => own === name)?.[1]
  return published === undefined ? path : `/${published}`
}
