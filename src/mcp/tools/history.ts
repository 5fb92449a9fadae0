/** The tool record_history: versions of a record, or its state at a version or time. */
import { z } from 'zod'
import { pageBody, trim } from '../../contract/response-bodies.ts'
import { invalid } from '../../foundation/errors.ts'
import { omitUndefined } from '../../foundation/omit-undefined.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { BY_CURSOR, ReadResult } from '../budget/read-result.ts'
import { PAGE } from '../tool/page-arguments.ts'
import { reading, tool } from '../tool/tool.ts'
import { ToolRecord } from './records/operations.ts'

const history =
  staticOperation(`query ToolHistory($base: String!, $recordType: String!, $id: String!, $limit: Int, $cursor: String) {
    recordHistory(base: $base, recordType: $recordType, id: $id, limit: $limit, cursor: $cursor) {
      data { version operation at actor { token_id: tokenId name kind via } request_id: requestId call { id tool endpoint client trace_id: traceId } seq cause diff proposed { token_id: tokenId name kind request_id: requestId call { id tool endpoint client trace_id: traceId } } }
      hasMore limit offset total nextCursor cursors
    }
  }`)
const past = staticOperation(
  `query ToolPast($base: String!, $recordType: String!, $id: String!, $version: Int, $asOf: String) {
    record(base: $base, recordType: $recordType, id: $id, version: $version, asOf: $asOf) { ...ToolRecord }
  }`,
  [ToolRecord],
)

export const historyTool = tool('record_history', {
  title: 'History',
  description: 'Versions with diffs; version or as_of: the record then.',
  permission: 'read',
  notInChangeSets: true,
  showsRecords: true,
  input: z.strictObject({
    record_type: z.string(),
    id: z.string(),
    version: z.int32().optional(),
    as_of: z.string().optional(),
    limit: z.int32().optional(),
    cursor: z.string().optional(),
    ...reading,
  }),
  run: async ({ base_id, record_type, id, version, as_of, limit, cursor }, context) => {
    const target = { base: base_id, recordType: record_type, id }
    if (version !== undefined || as_of !== undefined) {
      if (limit !== undefined || cursor !== undefined) throw noList(limit === undefined ? 'cursor' : 'limit')
      const then = omitUndefined({ version, asOf: as_of })
      return new ReadResult(trim((await past({ ...target, ...then }, context)).record))
    }
    const page = omitUndefined({ limit: limit ?? PAGE, cursor })
    const { recordHistory } = await history({ ...target, ...page }, context)
    return new ReadResult(pageBody(recordHistory), { ...BY_CURSOR, cursors: recordHistory.cursors })
  },
})

const noList = (argument: string) =>
  invalid({
    path: `/${argument}`,
    code: 'exclusive',
    message: `version and as_of return one record, not a list. Leave ${argument} out.`,
  })
