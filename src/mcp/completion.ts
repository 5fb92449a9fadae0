import { LIMITS } from '../foundation/limits.ts'
import { type Context, mayRead } from '../graphql/context.ts'
import { staticOperation } from '../graphql/execute.ts'
import { valuesOf } from '../json/rows.ts'
import { isAtEndpoint } from './endpoints/endpoint.ts'
import { findPrompt } from './prompts/prompts.ts'
import type { AddressSession } from './protocol/address-session.ts'
import type { CompletionOf } from './protocol/provider.ts'
import { templatesOf } from './protocol/resource-uri.ts'
import { isNotVisible, isServed } from './resources/resources.ts'

const listBases = staticOperation(
  `query CompleteBases($limit: Int) { bases(limit: $limit) { data { id } hasMore } }`,
)
const listTypes = staticOperation(`query CompleteTypes($base: String!, $limit: Int) {
  recordTypes(base: $base, limit: $limit) { data { id } hasMore }
}`)
const listIds =
  staticOperation(`query CompleteIds($base: String!, $type: String!, $filter: JSON, $limit: Int) {
  records(base: $base, recordType: $type, filter: $filter, sort: "id", fields: ["id"], limit: $limit) { rows hasMore }
}`)

const listFileTypes = staticOperation(`query CompleteFileTypes($base: String!, $limit: Int) {
  fileTypes(base: $base, limit: $limit) { data { id } hasMore }
}`)
const listActions = staticOperation(`query CompleteActions($base: String!, $limit: Int) {
  actions(base: $base, limit: $limit) { data { id } hasMore }
}`)
const listPaths =
  staticOperation(`query CompletePaths($base: String!, $type: String!, $prefix: String, $limit: Int) {
    files(base: $base, fileType: $type, prefix: $prefix, limit: $limit) { data { path } hasMore }
  }`)

type Completed = { values: string[]; total?: number; hasMore: boolean }
const NOTHING: Completed = { values: [], hasMore: false }

/**
 * Completes a template variable or prompt argument by prefix. Unknown and forbidden names both give no
 * values.
 */
export async function complete(session: AddressSession, asked: CompletionOf): Promise<Completed> {
  const { ref } = asked
  try {
    if (ref['type'] === 'ref/prompt') return await ofPrompt(session, String(ref['name']), asked)
    return ref['type'] === 'ref/resource' ? await ofTemplate(session, String(ref['uri']), asked) : NOTHING
  } catch (thrown) {
    if (isNotVisible(thrown)) return NOTHING
    throw thrown
  }
}

/** Handles both forms of a template. At the address of a base, the base is known from the session. */
async function ofTemplate(session: AddressSession, uri: string, asked: CompletionOf): Promise<Completed> {
  const { context } = session
  const { name, value } = asked.argument
  const templates = [templatesOf(session.base), templatesOf(null)]
  const isTemplate = templates.some((each) => Object.values(each).includes(uri))
  const variable = VARIABLES.get(name)
  if (!isTemplate || variable === undefined || !uri.includes(variable)) return NOTHING
  if (name === 'base') return bases(session, value)
  const given = argumentsOf(asked)
  const base = session.base ?? given['base']
  if (base === undefined || !isServed(session, base)) return NOTHING
  if (name === 'type') {
    const isOfType = templates.some((each) => each.type === uri)
    return isOfType ? types(base, value, context) : typesOfRecords(session, base, value)
  }
  if (name === 'file_type') return fileTypes(base, value, context)
  if (name === 'action') return actions(base, value, context)
  if (name === 'path') return paths(base, given['file_type'], value, context)
  return given['type'] === undefined ? NOTHING : ids(base, given['type'], value, context)
}

/** The variables of templates that can be completed, as the templates have them. */
const VARIABLES: ReadonlyMap<string, string> = new Map([
  ...['base', 'type', 'id', 'file_type', 'action'].map((name) => [name, `{${name}}`] as const),
  ['path', '{+path}'],
])

/** Completes a prompt argument: from its enum, or with ids of the records it may name. */
async function ofPrompt(
  session: AddressSession,
  name: string,
  { argument }: CompletionOf,
): Promise<Completed> {
  const found = await findPrompt(session, name)
  const known = found?.prompt.arguments.find((each) => each.name === argument.name)
  if (!found || !known) return NOTHING
  if (known.enum && known.enum.length > 0) return startingWith(argument.value, known.enum, false)
  return known.record_type ? ids(found.base, known.record_type, argument.value, session.context) : NOTHING
}

const argumentsOf = ({ context }: CompletionOf): Readonly<Record<string, string | undefined>> =>
  (context?.['arguments'] ?? {}) as Record<string, string>

async function bases({ base, context }: AddressSession, value: string): Promise<Completed> {
  if (base !== null) return startingWith(value, [base], false)
  const { data, hasMore } = (await listBases({ limit: LIMITS.pageMax }, context)).bases
  return startingWith(value, sortedIds(data), hasMore)
}

async function types(base: string, value: string, context: Context): Promise<Completed> {
  const { data, hasMore } = (await listTypes({ base, limit: LIMITS.pageMax }, context)).recordTypes
  return startingWith(value, sortedIds(data), hasMore)
}

async function actions(base: string, value: string, context: Context): Promise<Completed> {
  const { data, hasMore } = (await listActions({ base, limit: LIMITS.pageMax }, context)).actions
  return startingWith(value, sortedIds(data), hasMore)
}

/**
 * Types whose records are readable, including those that an endpoint shows only in part and does not list as
 * resources.
 */
async function typesOfRecords(session: AddressSession, base: string, value: string): Promise<Completed> {
  const { context } = session
  if (!isAtEndpoint(session)) return types(base, value, context)
  const { data, hasMore } = (await listTypes({ base, limit: LIMITS.pageMax }, session.asking)).recordTypes
  const served = data.filter(({ id }) => mayRead(context, base, id))
  return startingWith(value, sortedIds(served), hasMore)
}

/** Sorts after every character of an id, as the upper bound of a prefix. */
const ABOVE = '~'

/** Prefix scan on the primary key: reads only the returned rows. */
async function ids(base: string, type: string, value: string, context: Context): Promise<Completed> {
  const from = { field: 'id', op: 'gte', value }
  const to = { field: 'id', op: 'lt', value: `${value}${ABOVE}` }
  const asked = { base, type, filter: { and: [from, to] }, limit: LIMITS.completions }
  const { rows, hasMore } = (await listIds(asked, context)).records
  return { values: valuesOf(rows).map((row) => (row as { id: string }).id), hasMore }
}

async function fileTypes(base: string, value: string, context: Context): Promise<Completed> {
  const { data, hasMore } = (await listFileTypes({ base, limit: LIMITS.pageMax }, context)).fileTypes
  return startingWith(value, sortedIds(data), hasMore)
}

async function paths(
  base: string,
  type: string | undefined,
  prefix: string,
  context: Context,
): Promise<Completed> {
  if (type === undefined) return NOTHING
  const { data, hasMore } = (await listPaths({ base, type, prefix, limit: LIMITS.completions }, context))
    .files
  return { values: data.map(({ path }) => path), hasMore }
}

const sortedIds = (data: readonly { id: string }[]): string[] => data.map(({ id }) => id).sort()

/** Case-insensitive prefix match. */
function startingWith(text: string, values: readonly string[], areMore: boolean): Completed {
  const wanted = text.toLowerCase()
  const found = values.filter((each) => each.toLowerCase().startsWith(wanted))
  const shown = found.slice(0, LIMITS.completions)
  return {
    values: shown,
    ...(!areMore && { total: found.length }),
    hasMore: areMore || found.length > shown.length,
  }
}
