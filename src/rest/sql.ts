/** REST route that runs a read-only SQL statement. */
import { z } from 'zod'
import { sqlBody } from '../contract/response-bodies.ts'
import { graphql } from '../graphql/document.ts'
import { route } from './route/route.ts'
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
  limit: z.int().optional().meta({ minimum: 1, description: 'Maximum number of rows. Defaults to 1,000.' }),
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

export const sql = [
  route('POST /:base_id/sql', {
    tag: 'SQL',
    summary: 'Run a read-only SQL statement',
    need: baseAccess,
    params: z.strictObject({ base_id: baseId() }),
    body: Body,
    operation: graphql(
      `query Sql($base: String!, $query: String!, $params: JSON, $limit: Int) {
        sql(base: $base, query: $query, params: $params, limit: $limit) {
          data meta { rows has_more: hasMore columns { name type } hint }
        }
      }`,
    ),
    variables: ({ params, body }) => ({
      base: params.base_id,
      query: body.query,
      params: body.params,
      limit: body.limit,
    }),
    reply: ({ sql }) => ({ body: sqlBody(sql) }),
    answers: Answer,
  }),
]
