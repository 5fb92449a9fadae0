/** The tool sql_write: runs SQL statements that write, in one transaction. */
import { z } from 'zod'
import { staticOperation } from '../../graphql/execute.ts'
import { DeletionParts, PlanParts } from '../../http/deletion-plan-fragment.ts'
import { parseJson } from '../../json/parse.ts'
import { without } from '../budget/lean.ts'
import type { Row } from '../budget/read-result.ts'
import { deletedOr } from '../tool/approval.ts'
import { deleting, tool } from '../tool/tool.ts'

const run = staticOperation(
  `mutation ToolSqlWrite($base: String!, $statements: String, $params: JSON) {
    executeSql(base: $base, statements: $statements, params: $params) {
      data { statement operation count rows } count requestId dry_run: dryRun deletion { ...DeletionParts } plan { ...PlanParts }
    }
  }`,
  [DeletionParts, PlanParts],
)

export const sqlWriteTool = tool('sql_write', {
  title: 'SQL that writes',
  description:
    'INSERT (also SELECT; ON CONFLICT (id) or (external_source, external_id)), UPDATE FROM, DELETE, RETURNING on types and relationships, by ;, in one transaction. Casts and JSON text for object columns work.',
  permission: 'write',
  hints: { destructive: true },
  showsRecords: true,
  available: ({ scope }) => scope.sql.isolation() !== 'off',
  input: z.strictObject({
    statements: z.string(),
    params: z.unknown().optional().meta({ description: 'As in sql_query.' }),
    ...deleting,
  }),
  lean: leanResults,
  run: async ({ base_id, statements, params }, context) => {
    // `params` may be stringified JSON in either form, array or object.
    const given = typeof params === 'string' ? parseJson(params, '/params') : params
    const asked = { base: base_id, statements, ...(given !== undefined && { params: given }) }
    const { data, count, requestId, plan, ...done } = (await run(asked, context)).executeSql
    const meta = { count, ...(requestId !== null && { request_id: requestId }) }
    return deletedOr({ plan, data: data.map(withoutNoRows), meta, ...done })
  },
})

/** The results without their numbers, and what a confirmed plan has said. */
function leanResults({ data, deletion, ...body }: Row): Row {
  if (!Array.isArray(data)) return body
  const results = data.map((result: Row) => without(result, ['statement']))
  return { data: results, ...(body['dry_run'] === true && { deletion }), ...body }
}

type Result = { operation: string; rows: unknown }

/** A result without its rows, if a write returns none. */
const withoutNoRows = <T extends Result>({ rows, ...rest }: T) =>
  rest.operation !== 'select' && Array.isArray(rows) && rows.length === 0 ? rest : { ...rest, rows }
