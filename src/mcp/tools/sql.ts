/** The tool sql_query: runs a read-only SQL statement. */
import { z } from 'zod'
import { sqlBody } from '../../contract/response-bodies.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { graphql } from '../../graphql/document.ts'
import { compile } from '../../graphql/execute.ts'
import { parseJson } from '../../json/parse.ts'
import { ReadResult } from '../budget/read-result.ts'
import { pageOutput } from '../tool/page-arguments.ts'
import { reading, tool } from '../tool/tool.ts'

const run = compile(
  graphql(
    `query ToolSql($base: String!, $query: String!, $params: JSON, $limit: Int) {
      sql(base: $base, query: $query, params: $params, limit: $limit) {
        data meta { rows has_more: hasMore columns { name type } hint }
      }
    }`,
  ),
)

type Rows = { data: unknown; meta: { columns: unknown } }

/** The body without the names of columns, which each row repeats. Without rows, the names are all there is. */
function withoutColumns({ data, meta }: Rows): object {
  const { columns: _, ...bare } = meta
  return Array.isArray(data) && data.length > 0 ? { data, meta: bare } : { data, meta }
}

/** Default row limit, because output costs tokens. */
const ROWS = 100

const OF_ROWS = 'Select fewer columns, or continue with LIMIT and OFFSET in the query.'
const OF_CHANGES =
  'See first what each request did: SELECT request_id, actor_name, record_type, operation, count(*), max(at) FROM changes GROUP BY 1, 2, 3, 4 ORDER BY max(seq) DESC.'

export const sqlTools = [
  tool('sql_query', {
    title: 'SQL query',
    description:
      'PostgreSQL SELECT. A type is a relation: id, status, version, created_at, updated_at, properties, data (jsonb); cancelled records too. Also records, relationships, claims, record_types, relationship_types, changes. No back references or look-around in patterns.',
    permission: 'read',
    hints: { idempotent: true },
    showsRecords: true,
    available: ({ scope }) => scope.sql.isolation() !== 'off',
    input: z.strictObject({
      query: z.string(),
      params: z.unknown().optional().meta({ description: '[1] for $1, {"name":1} for :name.' }),
      limit: z.int().min(1).max(LIMITS.sqlRows).default(ROWS),
      ...reading,
    }),
    output: pageOutput,
    run: async ({ base_id, query, params, limit }, context) => {
      // `params` may be stringified JSON in either form, array or object.
      const given = typeof params === 'string' ? parseJson(params, '/params') : params
      const asked = { base: base_id, query, ...(given !== undefined && { params: given }), limit }
      const onward = /\bchanges\b/i.test(query) ? OF_CHANGES : OF_ROWS
      return new ReadResult(withoutColumns(sqlBody((await run(asked, context)).sql)), { onward })
    },
  }),
]
