import { z } from 'zod'
import { pageBody, trim } from '../bodies.ts'
import { withPaths } from '../errors.ts'
import { graphql } from '../graphql/document.ts'
import { compile } from '../graphql/execute.ts'
import { BaseBody } from '../shapes.ts'
import { pageArguments, pageOutput } from './shapes.ts'
import { accountTool, writing } from './tool.ts'

const ToolBase = graphql(`fragment ToolBase on Base {
  id name description environment production_base: productionBase settings version created_at: createdAt updated_at: updatedAt
}`)
const listBases = compile(
  graphql(
    `query ToolListBases($limit: Int, $offset: Int) {
    bases(limit: $limit, offset: $offset) { data { ...ToolBase } hasMore limit offset }
  }`,
    [ToolBase],
  ),
)
const putBase = compile(
  graphql(
    `mutation ToolPutBase($id: String!, $input: BaseInput!) {
    putBase(id: $id, input: $input) { ...ToolBase dry_run: dryRun }
  }`,
    [ToolBase],
  ),
)

export const baseTools = [
  accountTool('list_bases', {
    title: 'List bases',
    description:
      'List the bases this token sees. A base holds record types and their records; other tools name it in base_id.',
    permission: 'read',
    hints: { idempotent: true },
    input: z.strictObject(pageArguments),
    output: pageOutput,
    run: async (args, context) => pageBody((await listBases(args, context)).bases),
  }),
  accountTool('put_base', {
    title: 'Create or update a base',
    description:
      'Create a base, or replace its name, description and settings. What is left out returns to its default.',
    permission: 'manage',
    hints: { idempotent: true, destructive: true },
    input: z.strictObject({ base_id: z.string(), ...BaseBody.shape, ...writing }),
    output: {
      type: 'object',
      properties: { id: { type: 'string' }, version: { type: 'integer' } },
      required: ['id'],
    },
    run: async ({ base_id, name, description, settings }, context) => {
      const input = {
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        ...(settings && { settings }),
      }
      const done = await putBase({ id: base_id, input }, context).catch((thrown: unknown) => {
        throw withPaths(thrown, (path) => (path === '/id' ? '/base_id' : path))
      })
      return trim(done.putBase)
    },
  }),
]
