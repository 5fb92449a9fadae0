import { z } from 'zod'
import { graphql } from '../graphql/document.ts'
import { compile } from '../graphql/execute.ts'
import { BaseBody } from '../shapes.ts'
import { pageArguments, pageOutput, shown } from './shapes.ts'
import { accountTool, writing } from './tool.ts'

const listBases = compile(
  graphql(`query ToolListBases($limit: Int, $offset: Int) {
    bases(limit: $limit, offset: $offset) { data { id name description environment } hasMore limit offset }
  }`),
)
const putBase = compile(
  graphql(`mutation ToolPutBase($id: String!, $input: BaseInput!) {
    putBase(id: $id, input: $input) { id name description environment settings version operation dry_run: dryRun }
  }`),
)

export const baseTools = [
  accountTool('list_bases', {
    title: 'List bases',
    description: 'List the bases this token sees. A base holds record types and their records; other tools name it in base_id.',
    permission: 'read',
    hints: { idempotent: true },
    input: z.strictObject(pageArguments),
    output: pageOutput,
    run: async (args, context) => {
      const { data, hasMore, limit, offset } = (await listBases(args, context)).bases
      return { data, meta: { has_more: hasMore, limit, offset } }
    },
  }),
  accountTool('put_base', {
    title: 'Create or update a base',
    description: 'Create a base, or replace its name, description and settings. What is left out returns to its default.',
    permission: 'manage',
    hints: { idempotent: true },
    input: z.strictObject({ base_id: z.string(), ...BaseBody.shape, ...writing }),
    output: { type: 'object', properties: { id: { type: 'string' }, version: { type: 'integer' } }, required: ['id'] },
    run: async ({ base_id, name, description, settings }, context) => {
      const input = { ...(name !== undefined && { name }), ...(description !== undefined && { description }), ...(settings && { settings }) }
      return shown((await putBase({ id: base_id, input }, context)).putBase)
    },
  }),
]
