import * as endpoints from '../engine/endpoints/index.ts'
import { expectation } from '../engine/expectation.ts'
import { builder } from './builder.ts'
import { Deleted, expectationArgs, Operation, versionArgs } from './common.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'

type Toolset = endpoints.Toolset & { dryRun?: boolean }

const ToolsetType = builder.objectRef<Toolset>('Toolset').implement({
  description: 'A named list of tools that endpoints share.',
  fields: (t) => ({
    id: t.exposeString('id'),
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    tools: t.field({
      type: 'JSON',
      description: 'Selections of tools, as an endpoint has them.',
      resolve: ({ tools }) => tools,
    }),
    version: t.exposeInt('version'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    operation: t.field({ type: Operation, nullable: true, resolve: (toolset) => toolset.operation }),
    dryRun: t.exposeBoolean('dryRun', { nullable: true }),
  }),
})
const ToolsetPage = pageType('ToolsetPage', ToolsetType)

builder.queryFields((t) => ({
  toolsets: t.field({
    type: ToolsetPage,
    description: 'The toolsets of a base, newest first.',
    args: { base: t.arg.string({ required: true }), ...pageArgs() },
    resolve: (_root, { base, ...args }, { scope }) => endpoints.listToolsets(scope, base, args),
  }),
  toolset: t.field({
    type: ToolsetType,
    args: { base: t.arg.string({ required: true }), id: t.arg.string({ required: true }) },
    resolve: (_root, { base, id }, { scope }) => endpoints.getToolset(scope, base, id),
  }),
}))

const ToolsetInput = builder.inputType('ToolsetInput', {
  fields: (t) => ({ name: t.string(), description: t.string(), tools: t.field({ type: 'JSON' }) }),
})

mutation('putToolset', {
  description: 'Creates a toolset or replaces it whole.',
  type: ToolsetType,
  args: {
    ...builder.args((t) => ({
      base: t.string({ required: true }),
      id: t.string({ required: true }),
      input: t.field({ type: ToolsetInput, required: true }),
    })),
    ...expectationArgs(),
  },
  resolve: (scope, { base, id, input, ...expected }) =>
    endpoints.putToolset(scope, base, id, input, expectation(expected)),
})

mutation('deleteToolset', {
  description: 'Deletes a toolset that no endpoint has.',
  type: Deleted,
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    id: t.string({ required: true }),
    ...versionArgs(),
  })),
  resolve: (scope, { base, id, ...expected }) =>
    endpoints.deleteToolset(scope, base, id, expectation(expected)),
})
