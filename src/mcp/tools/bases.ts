/** Account tools for bases: list_bases and put_base. */
import { z } from 'zod'
import { pageBody, trim } from '../../contract/response-bodies.ts'
import { BaseBody } from '../../contract/shapes.ts'
import { withPaths } from '../../foundation/errors.ts'
import { omitUndefined } from '../../foundation/omit-undefined.ts'
import { graphql } from '../../graphql/document.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { BY_CURSOR, ReadResult } from '../budget/read-result.ts'
import { pageArguments, pageOutput } from '../tool/page-arguments.ts'
import { accountTool, reading, writing } from '../tool/tool.ts'

const ToolBase = graphql(`fragment ToolBase on Base {
  id name description environment production_base: productionBase settings
  change_set: changeSet { title status revision created_by: createdBy created_by_name: createdByName written_at: writtenAt counts }
  version created_at: createdAt updated_at: updatedAt
}`)
const listBases = staticOperation(
  `query ToolListBases($limit: Int, $offset: Int, $cursor: String) {
    bases(limit: $limit, offset: $offset, cursor: $cursor) { data { ...ToolBase } hasMore limit offset nextCursor cursors }
  }`,
  [ToolBase],
)
const putBase = staticOperation(
  `mutation ToolPutBase($id: String!, $input: BaseInput!) {
    putBase(id: $id, input: $input) { ...ToolBase dry_run: dryRun }
  }`,
  [ToolBase],
)

const texts = BaseBody.pick({ name: true, description: true }).shape
/** The engine validates the settings; the tool only documents them. */
const settings = z.record(z.string(), z.unknown()).optional().meta({
  description:
    'schema_changes ("direct" or "preview_only"), history_days, trash_days, calls_days, call_arguments.',
})

export const baseTools = [
  accountTool('list_bases', {
    title: 'List bases',
    description: 'List the bases of this token; other tools take one as base_id.',
    permission: 'read',
    input: z.strictObject({ ...pageArguments, ...reading }),
    output: pageOutput,
    run: async (args, context) => {
      const { bases } = await listBases(omitUndefined(args), context)
      return new ReadResult(pageBody(bases), { ...BY_CURSOR, cursors: bases.cursors })
    },
  }),
  accountTool('put_base', {
    title: 'Create or update a base',
    description:
      'Create a base, or replace its name, description and settings; omitted ones return to their defaults.',
    permission: 'manage',
    hints: { idempotent: true, destructive: true },
    input: z.strictObject({ base_id: z.string(), ...texts, settings, ...writing }),
    run: async ({ base_id, name, description, settings }, context) => {
      const input = omitUndefined({ name, description, settings })
      const done = await putBase({ id: base_id, input }, context).catch((thrown: unknown) => {
        throw withPaths(thrown, (path) => (path === '/id' ? '/base_id' : path))
      })
      return trim(done.putBase)
    },
  }),
]
