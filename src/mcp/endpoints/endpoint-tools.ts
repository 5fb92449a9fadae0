import { unknownName } from '../../contract/suggest.ts'
import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { VersionedCache } from '../../foundation/versioned-cache.ts'
import { type Context, grantsName } from '../../graphql/context.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { clean } from '../../schema-shape/descriptions.ts'
import { success } from '../protocol/result.ts'
import type { Tool } from '../tool/tool.ts'
import type { EndpointTool } from '../tool/tool-binding.ts'
import { aggregateTool } from '../tools/aggregates.ts'
import { attachmentTools } from '../tools/attachments.ts'
import { callTyped } from '../tools/call-typed-tool.ts'
import { workTools } from '../tools/claims/claims.ts'
import { historyTool } from '../tools/history.ts'
import { recordTools } from '../tools/records/writes.ts'
import {
  aboutType,
  allTypes,
  charsOf,
  labelOf,
  type RecordType,
  typedToolOf,
  wordsOf,
} from '../tools/typed-tools.ts'
import { actionTool } from './action-tool.ts'
import { endpointBatch, endpointSql, endpointUndo, linkTool } from './link-tools.ts'
import { readServed, type ServedTool } from './served-endpoint.ts'

const readStamp = staticOperation(`query EndpointStamp($base: String!, $id: String!, $whole: Boolean) {
  servedEndpoint(base: $base, id: $id, whole: $whole) { stamp }
  base(id: $base) { typesVersion createdAt }
}`)

export type EndpointTools = ReadonlyMap<string, EndpointTool>

const cache = new VersionedCache<EndpointTools>(LIMITS.toolCacheChars)

/**
 * Resolves the tools of an endpoint that the token may use, in the author's order; with `whole`, all tools.
 * Cached by the versions of everything that the tools depend on.
 */
export async function endpointTools(
  base: string,
  id: string,
  context: Context,
  whole = false,
): Promise<EndpointTools> {
  const { servedEndpoint, base: types } = await readStamp({ base, id, whole }, context)
  const key = JSON.stringify([base, id, grantsName(context), whole])
  const version = JSON.stringify([types.createdAt, types.typesVersion, servedEndpoint.stamp])
  return cache.of(key, version, async () => {
    const made = await makeTools(base, id, context, whole)
    return { value: new Map(made.map((tool) => [tool.definition.name, tool])), chars: await charsOf(made) }
  })
}

async function makeTools(
  base: string,
  id: string,
  context: Context,
  whole: boolean,
): Promise<EndpointTool[]> {
  const served = (await readServed({ base, id, whole }, context)).servedEndpoint
  const all = new Map((await allTypes(base, context)).map((type) => [type.id, type]))
  const followed = served.links.flatMap(({ operation, relType }) =>
    operation === 'related' ? [relType] : [],
  )
  const ofTypes: EndpointTool[] = []
  for (const tool of served.tools) {
    const type = all.get(tool.recordType)
    if (type) ofTypes.push(await typeTool(tool, type, followed))
  }
  const unlinked = new Set(
    served.links.flatMap(({ operation, relType }) => (operation === 'unlink' ? [relType] : [])),
  )
  const ofActions: EndpointTool[] = []
  for (const action of served.actions) ofActions.push(await actionTool(action))
  return [
    ...ofTypes,
    ...ofActions,
    ...served.links.map((link) => linkTool(link, unlinked.has(link.relType))),
    ...(served.batch ? [endpointBatch(served.batch)] : []),
    ...(served.undo ? [endpointUndo()] : []),
    ...(served.sqlQuery && endpointSql.available(context, base) ? [endpointSql.tool()] : []),
  ]
}

export const named = (tools: readonly Tool[], name: string): Tool => {
  const found = tools.find((tool) => tool.name === name)
  if (!found) throw new Error(`There is no tool ${name}`)
  return found
}

/** Arguments of `work` that an action on claims does not have. */
const NOT_OF_CLAIMS = [
  ...['record_type', 'filter', 'sort', 'limit', 'lease_seconds', 'max_attempts', 'patch', 'timeout'],
  ...['condition', 'after', 'max_tokens', 'force'],
]

/** The generic tool behind each operation of a type. */
const GENERIC = {
  get: { tool: named(recordTools, 'get_record'), title: 'Get', words: 'Read one record' },
  list: { tool: named(recordTools, 'query_records'), title: 'List', words: 'List records' },
  delete: { tool: named(recordTools, 'delete_record'), title: 'Delete', words: 'Delete a record' },
  cancel: {
    tool: named(recordTools, 'cancel_record'),
    title: 'Cancel',
    words: 'Cancel a record',
  },
  aggregate: {
    tool: aggregateTool,
    title: 'Aggregate',
    words: 'Count, sum and compare records',
  },
  history: {
    tool: historyTool,
    title: 'History',
    words: 'Versions with diffs of a record',
  },
  claim: {
    tool: named(workTools, 'work'),
    title: 'Claim',
    words:
      'Claim free records, each for one worker until its lease ends; none is an empty list. patch writes their data. timeout waits for some. Records',
    given: { action: 'claim' },
    without: ['claim_ids', 'condition', 'after', 'force'],
  },
  complete: {
    tool: named(workTools, 'work'),
    title: 'Complete',
    words:
      'End claims (claim_id or claim_ids): the record, which stays as it is, is handed out again only if it changes. Records',
    given: { action: 'complete' },
    without: NOT_OF_CLAIMS,
  },
  release: {
    tool: named(workTools, 'work'),
    title: 'Release',
    words:
      'Give claims back (claim_id or claim_ids): others can claim the record, which stays as it is. Records',
    given: { action: 'release' },
    without: NOT_OF_CLAIMS,
  },
  attach: {
    tool: named(attachmentTools, 'attach'),
    title: 'Attach to',
    words:
      'Attach a file to a record, as text or base64, in the place of one of that filename. Without either: upload_url for a PUT. Records',
  },
  attachments: {
    tool: named(attachmentTools, 'attachments'),
    title: 'Attachments of',
    words: 'Attached files; filename: one of them, with its text, or a url. Records',
  },
} as const
type GenericOperation = keyof typeof GENERIC
/** The name in `expand` that shows attachments. */
const ATTACHMENTS = 'attachments'
const OF_PAST = ['version', 'as_of']

/** Query syntax for descriptions: the schemas of these tools do not explain it. */
const QUERIES: Partial<Record<GenericOperation, string>> = {
  list: ' filter: {"field":"data.status","op":"eq","value":"open"}, or {"and":[…]}, {"or":[…]}, {"not":{…}}. sort: "-data.amount,id". fields: ["data.name"].',
  aggregate:
    ' aggregations: [{"fn":"sum","field":"data.n"}]; fn is count, sum, avg, min, max or count_distinct. group_by: ["data.a",{"field":"created_at","interval":"day"}].',
}

async function typeTool(
  tool: ServedTool,
  type: RecordType,
  followed: readonly string[],
): Promise<EndpointTool> {
  const { name, operation, recordType, defaults } = tool
  const visible = tool.fields?.map((field) => field.replace(/^data[.]/, '')) ?? null
  if (operation === 'create' || operation === 'update' || operation === 'upsert') {
    const description = describe(tool, type, wordsOf(type, operation), '')
    const preset = operation === 'update' ? [] : defaults
    const typed = await typedToolOf(type, operation, {
      name,
      description,
      visible,
      preset,
      without: ['relationships', 'claim_id'],
    })
    return {
      definition: typed.definition,
      recordType,
      operation,
      call: async (args, place) => success(await callTyped(typed, place, args), true),
    }
  }
  const of = operation as GenericOperation
  const { tool: generic, title, words, ...fixed } = GENERIC[of]
  const { given, without = [] } = fixed as { given?: object; without?: readonly string[] }
  const endsClaim = of === 'complete' || of === 'release'
  const shown = tool.attaches ? [...followed, ATTACHMENTS] : followed
  const expands = of === 'get' && shown.length > 0
  const more = expands
    ? ` expand: ${shown.join(', ')}${followed.length > 0 ? ', or ~ before a relationship for incoming ones' : ''}.`
    : QUERIES[of]
  const bound = generic.bind({
    name,
    title: `${title} ${labelOf(type)}`,
    description: describe(tool, type, `${words} of type "${type.id}".`, more ?? ''),
    given: { ...(!endsClaim && { record_type: recordType }), ...given },
    // Endpoints serve only current records, and claims of others are none of their callers' business.
    without: [
      ...without,
      ...OF_PAST,
      'include',
      ...(expands ? [] : ['expand']),
      ...(endsClaim ? [] : ['claim_id']),
    ],
  })
  const call: EndpointTool['call'] = (args, place, caller) => {
    checkExpand(args['expand'], shown, followed)
    return bound.call(args, place, caller)
  }
  return { ...bound, ...(expands && { call }), recordType, operation }
}

/**
 * Checks that a read follows relationships that the endpoint follows. The read checks the form.
 * @throws VALIDATION_ERROR
 */
function checkExpand(expand: unknown, shown: readonly string[], followed: readonly string[]): void {
  for (const path of Array.isArray(expand) ? expand : [expand]) {
    if (typeof path !== 'string' || shown.includes(path)) continue
    const step = path.split('.').find((each) => !followed.includes(each.replace(/^~/, '')))
    if (step !== undefined)
      throw invalid({
        path: '/expand',
        code: 'unknown_relationship_type',
        message: 'This tool does not follow that relationship. Send one that the endpoint follows.',
        ...unknownName(step, shown),
      })
  }
}

/**
 * Description of a tool: generated text, then the author's. The author's text alone if it describes the tool
 * itself.
 */
function describe(
  { description, isDescribed }: ServedTool,
  type: RecordType,
  words: string,
  query: string,
): string {
  if (description === null) return `${words}${query}${aboutType(type)}`
  const said = clean(description, 1000)
  return isDescribed ? said : `${words}${query} ${said}`
}
