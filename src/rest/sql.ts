/** REST route that runs a read-only SQL statement. */
import { z } from 'zod'
import { sqlBody } from '../contract/response-bodies.ts'
import type { Context } from '../graphql/context.ts'
import { graphql, type VariablesOf } from '../graphql/document.ts'
import { compile, compileSubscription } from '../graphql/execute.ts'
import { plainCell } from '../schema-shape/csv.ts'
import { orAll } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { ALL, once, type RowsAnswer, type Table } from './route/rows.ts'
import { baseAccess, baseId } from './route/shapes.ts'

const Body = z.strictObject({
  query: z.string().meta({
    description:
      'One SELECT in the dialect of PostgreSQL. Every record type is a relation by its id, beside `records`, `record_types`, `changes`, `relationships` and `relationship_types`.',
  }),
  params: z
    .union([z.array(z.unknown()), z.record(z.string(), z.unknown())])
    .optional()
    .meta({ description: 'A list for `$1` …, or an object for `:name` ….' }),
  limit: orAll(z.int().meta({ minimum: 1 }))
    .optional()
    .meta({
      description: 'Maximum number of rows. Defaults to 1,000. `all`, as CSV or NDJSON: the whole result.',
    }),
})

const Answer = z.object({
  data: z.array(z.record(z.string(), z.unknown())),
  meta: z.object({
    rows: z.int(),
    has_more: z.boolean(),
    columns: z.array(
      z.object({
        name: z.string(),
        type: z.string().meta({ description: 'The PostgreSQL type: text, bigint, timestamptz, jsonb …' }),
      }),
    ),
    hint: z
      .string()
      .optional()
      .meta({ description: 'Present if a property is compared with a value that its schema excludes.' }),
  }),
})

const Sql = graphql(
  `query Sql($base: String!, $query: String!, $params: JSON, $limit: Int) {
    sql(base: $base, query: $query, params: $params, limit: $limit) {
      data meta { rows has_more: hasMore columns { name type } hint }
    }
  }`,
)
const runSql = compile(Sql)
const streamSql = compileSubscription(
  graphql(
    `subscription StreamSql($base: String!, $query: String!, $params: JSON) {
      sqlRows(base: $base, query: $query, params: $params) { rows columns { name } }
    }`,
  ),
)

/** The rows of a statement in another format. @throws as the statement */
async function sqlRows(variables: VariablesOf<typeof Sql>, context: Context): Promise<RowsAnswer> {
  const { limit, ...asked } = variables
  if (limit === ALL) return { chunks: chunksOf(await streamSql(asked, context)) }
  const { data: rows, meta } = (await runSql(variables, context)).sql
  return { chunks: once({ rows, table: () => tableOf(meta.columns) }), meta: { has_more: meta.has_more } }
}

type Columns = readonly { name: string }[]
type Chunk = { sqlRows: { rows: unknown; columns: Columns } }

async function* chunksOf(chunks: AsyncIterableIterator<Chunk>) {
  for await (const { sqlRows } of chunks) yield { rows: sqlRows.rows, table: () => tableOf(sqlRows.columns) }
}

const tableOf = (columns: Columns): Table => ({
  columns: columns.map(({ name }) => plainCell(name)),
  cells: (row) => columns.map(({ name }) => plainCell(row[name])),
})

export const sql = tagged('SQL', [
  route('POST /:base_id/sql', {
    summary: 'Run a read-only SQL statement',
    need: baseAccess,
    params: z.strictObject({ base_id: baseId() }),
    body: Body,
    cuts: true,
    operation: Sql,
    reply: ({ sql }) => ({ body: sqlBody(sql) }),
    rows: sqlRows,
    answers: Answer,
  }),
])
