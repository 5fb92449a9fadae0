import { LIMITS } from '../../../foundation/limits.ts'
import { type Context, mayWrite } from '../../../graphql/context.ts'
import { staticOperation } from '../../../graphql/execute.ts'
import { valuesOf } from '../../../json/rows.ts'
import { typedTools } from '../typed-tools.ts'

const anyRecord = staticOperation(`query ToolAnyRecord($base: String!, $recordType: String!) {
  records(base: $base, recordType: $recordType, fields: ["id"], limit: 1) { rows }
}`)

/** A complete example tool call. */
type Call = { tool: string; arguments: Record<string, unknown> }

/** A link direction of the type, with properties of its relationship type. */
export type Linked = {
  rel_type: string
  direction: 'outgoing' | 'incoming'
  record_types: readonly string[]
  count: number
  cardinality: string
  data_schema: unknown
}

type Described = {
  base: string
  recordType: string
  portableId: string
  data: unknown
  queries: readonly { query: unknown }[]
  links: readonly Linked[]
  /** Whether calls at the address need `base_id`. */
  namesBase: boolean
  /** The address's tool restriction; null for all tools. */
  tools: readonly string[] | null
}

/**
 * Generates valid example calls for the type: one write, if the token may write, and queries with results.
 */
export async function readyCalls(described: Described, context: Context): Promise<Call[]> {
  const { base, recordType, queries, links, namesBase } = described
  const of = { ...(namesBase && { base_id: base }), record_type: recordType }
  const isLeft = ({ tool }: Call) => described.tools === null || described.tools.includes(tool)
  const [most] = links.filter(({ count }) => count > 0).toSorted((a, b) => b.count - a.count)
  const calls = [
    ...(mayWrite(context, base, recordType) ? await writes(described, of, context) : []),
    ...queries.map(({ query }) => {
      const asked = query as Record<string, unknown>
      const tool = 'aggregations' in asked ? 'aggregate_records' : 'query_records'
      return { tool, arguments: { ...of, ...asked } }
    }),
    ...(most ? [{ tool: 'query_records', arguments: { ...of, expand: [stepOf(most)], limit: 10 } }] : []),
  ]
  return calls.filter(isLeft)
}

/** One step of an `expand` path. */
const stepOf = ({ rel_type, direction }: Linked) => (direction === 'incoming' ? `~${rel_type}` : rel_type)

async function writes(described: Described, of: object, context: Context): Promise<Call[]> {
  const { base, portableId, data, links, namesBase, tools } = described
  if (data === null) return []
  const name = `create_${portableId}`
  const isLeft = !namesBase && (tools === null || tools.includes(name))
  const create = isLeft ? (await typedTools(base, context)).all.get(name) : undefined
  // Published names that differ from the property names would make this a different example.
  const isPlain = create && !create.input.projection.names.renames
  const link = await newLink(base, links, context)
  const upsert = { ...of, data, ...(link && { relationships: [link] }) }
  return [
    ...(isPlain ? [{ tool: create.definition.name, arguments: data as Record<string, unknown> }] : []),
    ...(isPlain && !link ? [] : [{ tool: 'upsert_record', arguments: upsert }]),
  ]
}

/** A link that a new record can have without violating cardinality, to an existing record. */
async function newLink(
  base: string,
  links: readonly Linked[],
  context: Context,
): Promise<object | undefined> {
  const open = links
    .filter((link) => isFree(link) && !asksForData(link.data_schema))
    .toSorted((a, b) => b.count - a.count)
  for (const { rel_type, direction, record_types } of open.slice(0, LIMITS.exampleTries)) {
    const [record_type] = record_types.filter((each) => mayWrite(context, base, each))
    if (record_type === undefined) continue
    const [row] = valuesOf((await anyRecord({ base, recordType: record_type }, context)).records.rows)
    if (!row) continue
    const { id } = row as { id: string }
    return { rel_type, ...(direction === 'incoming' && { direction }), record_type, id }
  }
  return undefined
}

/** Whether cardinality allows the other record one more link of this type. */
const isFree = ({ direction, cardinality }: Linked) =>
  cardinality === 'many_to_many' || cardinality === (direction === 'outgoing' ? 'many_to_one' : 'one_to_many')

const asksForData = (schema: unknown): boolean => {
  const { required } = Object(schema) as { required?: unknown }
  return Array.isArray(required) && required.length > 0
}
