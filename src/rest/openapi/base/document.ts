/** The OpenAPI description of one base: paths and schemas of its record types, as a token sees them. */
import { digest } from '../../../contract/canonical-hash.ts'
import { invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { type CachedText, TextCache } from '../../../foundation/text-cache.ts'
import type { Context } from '../../../graphql/context.ts'
import { staticOperation } from '../../../graphql/execute.ts'
import { ROUTES } from '../../plugin.ts'
import { headOf, responses, SECURITY_SCHEMES, tagOf } from '../document.ts'
import type { Json } from '../json-schema.ts'
import { operation, templateOf } from '../operation.ts'
import { LINKED } from './filter-schemas.ts'
import {
  fill,
  isWrite,
  OF_TYPE,
  ownDescription,
  Shared,
  templates,
  withoutTarget,
} from './record-operations.ts'
import { type DescribedType, typeSchemas } from './type-schemas.ts'

const seenKey = staticOperation(`query VisibleTypesKey($base: String!) { visibleTypes(base: $base) { key } }`)
const seenTypes = staticOperation(`query VisibleTypes($base: String!) {
  visibleTypes(base: $base) { types { id name: graphqlName description schemaText writable } }
}`)
const kept = new TextCache(LIMITS.baseDescriptionsChars)
/** One at a time: each can take megabytes until it is complete. */
let last: Promise<unknown> = Promise.resolve()

/**
 * The description of a base for the rights of the caller, as JSON text.
 * @throws FORBIDDEN, NOT_FOUND, VALIDATION_ERROR if it is too large
 */
export async function describeBase(caller: Context, base: string): Promise<CachedText> {
  const { visibleTypes } = await seenKey({ base }, caller)
  return kept.of(digest([base, visibleTypes.key]), () => {
    const text = last.then(async () => {
      const { visibleTypes } = await seenTypes({ base }, caller)
      return write(base, visibleTypes.types)
    })
    last = text.catch(() => {})
    return text
  })
}

const about = (
  base: string,
) => `The records of the base \`${base}\`, with the schemas of its record types, as your token sees them.

A filter, a sort and \`fields\` name the declared fields here. The server takes other paths into the data too. With \`fields\`,
a record has only those. The routes of all bases are in [/openapi.json](/openapi.json), the guides at [/guides](/guides).
The same types are in GraphQL at [/graphql/${base}](/graphql/${base}) and over MCP at \`/mcp/${base}\`.`

async function write(base: string, types: readonly DescribedType[]): Promise<string> {
  const shared = new Shared()
  const schemas: Json = {}
  const failures = responses(schemas)
  const ofType = await templates(base, shared, schemas)
  const others = await operationsOfAll(base, types, shared, schemas)
  const paths = others.text === '' ? [] : [others.text]
  const own: string[] = []
  let chars = 0
  for (const type of types) {
    if (turnIsOver()) await nextTurn()
    const right = type.writable ? 'write' : 'read'
    const root = type.name.charAt(0).toLowerCase() + type.name.slice(1)
    const path = fill(ofType.paths[right], type, others.nouns.has(root) ? `${root}_` : root)
    const schema = `${typeSchemas(type)},${fill(ofType.schemas[right], type, root)}`
    paths.push(path)
    own.push(schema)
    chars += path.length + schema.length
    if (chars > LIMITS.baseDescriptionChars) throw tooLarge()
  }
  const rights = new Set(types.map(({ writable }) => (writable ? 'write' : 'read')))
  const texts = [...rights].flatMap((right) => [ofType.paths[right], ofType.schemas[right]])
  const general = { ...schemas, ...shared.schemas, LinkedCondition: LINKED }
  const seed = [others.text, JSON.stringify(failures), ...texts, types.length > 0 ? REFERRED : '']
  const { parameters, schemas: used } = reachable(seed, { parameters: shared.parameters, schemas: general })
  const head = { ...headOf(`Plinth: ${base}`, about(base)), tags: tagsOf(types, others.tags) }
  const components = { securitySchemes: SECURITY_SCHEMES, responses: failures, parameters }
  const allSchemas = [JSON.stringify(used).slice(1, -1), ...own].join(',')
  return `${open(head)},"paths":{${paths.join(',')}},"components":${open(components)},"schemas":{${allSchemas}}}}`
}

/** The text of an object without its last brace. */
const open = (value: Json): string => JSON.stringify(value).slice(0, -1)

/** What the filters of all types refer to. */
const REFERRED = '"#/components/schemas/LinkedCondition"'

/** Operations with the record type as a parameter: what they take and return is the same for all types. */
async function operationsOfAll(base: string, types: readonly DescribedType[], shared: Shared, schemas: Json) {
  const items: Record<string, Json> = {}
  const tags = new Set<string>()
  const nouns = new Set<string>()
  for (const row of ROUTES) {
    if (!row.path.includes('/:record_type') || OF_TYPE.includes(row)) continue
    const ids = types.filter(({ writable }) => writable || !isWrite(row)).map(({ id }) => id)
    if (ids.length === 0) continue
    if (turnIsOver()) await nextTurn()
    const { parameters, requestBody, description, ...plain } = operation(row, schemas)
    const target: Json = {
      name: 'record_type',
      in: 'path',
      required: true,
      schema: { type: 'string', enum: ids },
    }
    const all = [target, ...withoutTarget(parameters as Json[])]
    const path = `/v1${templateOf(row.path)}`.replace('{base_id}', base)
    items[path] = {
      ...items[path],
      [row.method.toLowerCase()]: {
        ...plain,
        description: ownDescription(description),
        parameters: all.map((each) => shared.add('parameters', String(each['name']), each)),
        ...(requestBody !== undefined && { requestBody: withoutExamples(requestBody as Body) }),
      },
    }
    tags.add(row.spec.tag)
    nouns.add(String(plain['operationId']).split('.', 1)[0] ?? '')
  }
  return { text: JSON.stringify(items).slice(1, -1), tags: [...tags], nouns }
}

type Body = { content: Record<string, Json> }

const withoutExamples = ({ content, ...body }: Body): Json => ({
  ...body,
  content: Object.fromEntries(
    Object.entries(content).map(([type, { example: _, ...media }]) => [type, media]),
  ),
})

/** The components that the texts refer to, and those that these refer to. */
function reachable<C extends Record<'parameters' | 'schemas', Json>>(
  texts: readonly string[],
  components: C,
) {
  const used: Record<'parameters' | 'schemas', Json> = { parameters: {}, schemas: {} }
  const due = [...texts]
  for (let text = due.pop(); text !== undefined; text = due.pop())
    for (const [, kind, name = ''] of text.matchAll(/"#\/components\/(parameters|schemas)\/([\w.-]+)"/g)) {
      const place = kind as 'parameters' | 'schemas'
      const component = components[place][name]
      if (component === undefined || Object.hasOwn(used[place], name)) continue
      used[place][name] = component
      due.push(JSON.stringify(component))
    }
  return used
}

/** A tag for each type, and those of the other operations. */
function tagsOf(types: readonly DescribedType[], others: readonly string[]): Json[] {
  const ids = new Set(types.map(({ id }) => id))
  return [
    ...types.map(({ id, description }) => ({
      name: id,
      description: description || `Records of the type \`${id}\`.`,
    })),
    ...others.filter((name) => !ids.has(name)).map(tagOf),
  ]
}

const tooLarge = () =>
  invalid({
    path: 'path/base_id',
    code: 'too_large',
    message: `The description of the base has more than ${LIMITS.baseDescriptionChars} characters. Use a token with grants on fewer record types.`,
    expected: LIMITS.baseDescriptionChars,
  })
