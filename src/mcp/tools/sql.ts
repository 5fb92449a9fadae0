/** The tool sql_query: runs a read-only SQL statement. */
import { z } from 'zod'
import { sqlBody } from '../../contract/response-bodies.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Context } from '../../graphql/context.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { parseJson } from '../../json/parse.ts'
import { valuesOf } from '../../json/rows.ts'
import { ReadResult, type Row } from '../budget/read-result.ts'
import { pageOutput } from '../tool/page-arguments.ts'
import { reading, tool } from '../tool/tool.ts'

const run = staticOperation(`query ToolSql($base: String!, $query: String!, $params: JSON, $limit: Int) {
  sql(base: $base, query: $query, params: $params, limit: $limit) {
    data meta { rows has_more: hasMore columns { name type } hint }
  }
}`)

type Rows = { data: unknown; meta: { columns: unknown } }

/** The body without the names of columns, which each row repeats. Without rows, the names are all there is. */
function withoutColumns({ data, meta }: Rows): object {
  const { columns: _, ...bare } = meta
  return Array.isArray(data) && data.length > 0 ? { data, meta: bare } : { data, meta }
}

const OF_ROWS = 'Select fewer columns, or continue with LIMIT and OFFSET in the query.'
const OF_CHANGES = 'matches says what there is, by actor, tool and request. Narrow the query by these.'

type Columns = readonly { readonly name: string; readonly type: string }[]
type Asked = { base: string; query: string; params?: unknown; limit: number }

/** A cut answer about changes: how many rows match and by whom, then the newest, unless the query orders them, shortened. */
async function digestOf(
  asked: Asked,
  columns: Columns,
  body: object,
  context: Context,
  tokens: number,
): Promise<ReadResult> {
  const within = asked.query.trim().replace(/;$/, '')
  const over = async (select: string, rest: string, limit: number) => {
    const query = `SELECT ${select} FROM (\n${within}\n) AS matched ${rest}`
    return (await run({ ...asked, query, limit }, context)).sql
  }
  const has = (name: string) => columns.some((column) => column.name === name)
  const tool = has('call') ? ["call->>'tool' AS tool"] : has('tool') ? ['tool'] : []
  const by = [...['actor_name'].filter(has), ...tool, ...['request_id'].filter(has)]
  const newest = ['seq', 'at'].find(has)
  const order = newest === undefined ? 'count(*)' : `max(${newest})`
  const { data } = await over(
    [...by, 'count(*) AS count', 'sum(count(*)) OVER () AS whole'].join(', '),
    by.length === 0 ? '' : `GROUP BY ${by.map((_, at) => at + 1).join(', ')} ORDER BY ${order} DESC`,
    // A group takes some 30 tokens.
    Math.min(LIMITS.sqlToolGroups, Math.floor(tokens / 50) - 1),
  )
  const groups = valuesOf(data) as Row[]
  const isTurned = newest !== undefined && !/\border\s+by\b/i.test(asked.query)
  const shown = isTurned ? sqlBody(await over('*', `ORDER BY ${newest} DESC`, asked.limit)) : body
  const matches = {
    count: groups[0]?.['whole'] ?? 0,
    ...(by.length > 0 && { latest: groups.map(({ whole: _, ...group }) => group) }),
  }
  return new ReadResult(
    { matches, ...(isTurned ? withoutColumns(shown as Rows) : body) },
    { onward: OF_CHANGES, tokens: LIMITS.digestTokens, rowBytes: ROW_BYTES },
  )
}
const ROW_BYTES = 500

export const sqlTool = tool('sql_query', {
  title: 'SQL query',
  description:
    'PostgreSQL SELECT. A type is a relation: id, status, version, created_at, updated_at, properties, data (jsonb); cancelled records too. Also records, relationships, claims, record_types, relationship_types, changes.',
  permission: 'read',
  showsRecords: true,
  available: ({ scope }) => scope.sql.isolation() !== 'off',
  input: z.strictObject({
    query: z.string(),
    params: z.unknown().optional().meta({ description: '[1] for $1, {"name":1} for :name.' }),
    limit: z.int().min(1).max(LIMITS.sqlRows).default(LIMITS.sqlToolRows),
    ...reading,
  }),
  output: pageOutput,
  run: async ({ base_id, query, params, limit, max_tokens: tokens = LIMITS.digestTokens }, context) => {
    // `params` may be stringified JSON in either form, array or object.
    const given = typeof params === 'string' ? parseJson(params, '/params') : params
    const asked = { base: base_id, query, ...(given !== undefined && { params: given }), limit }
    const { sql } = await run(asked, context)
    const body = withoutColumns(sqlBody(sql))
    const plain = new ReadResult(body, { onward: OF_ROWS })
    if (!/\bchanges\b/i.test(query)) return plain
    // A query that cannot be a subquery is cut as any other.
    const ifCut = () => digestOf(asked, sql.meta.columns, body, context, tokens).catch(() => plain)
    return new ReadResult(body, { ifCut })
  },
})
