import * as endpoints from '../engine/endpoints/index.ts'
import { expectation } from '../engine/expectation.ts'
import { builder } from './builder.ts'
import { Deleted, expectationArgs, Operation, versionArgs } from './common.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'

type Endpoint = endpoints.Endpoint & { dryRun?: boolean }

const TOOLS =
  'Selections of tools: `[{ record_type, operations, name_override?, description_override?, fields?, filter?, defaults? }]`.'

const EndpointType = builder.objectRef<Endpoint>('Endpoint').implement({
  description: 'A set of tools that agents get at an MCP address of its own.',
  fields: (t) => ({
    id: t.exposeString('id'),
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    instructions: t.exposeString('instructions', { nullable: true }),
    toolsets: t.exposeStringList('toolsets'),
    tools: t.field({ type: 'JSON', description: TOOLS, resolve: ({ tools }) => tools }),
    relationships: t.field({
      type: 'JSON',
      description: '`[{ rel_type, operations }]`.',
      resolve: ({ relationships }) => relationships,
    }),
    batch: t.expose('batch', { type: 'JSON', description: '`{ enabled, operations? }`.' }),
    sqlQuery: t.exposeBoolean('sqlQuery'),
    resources: t.exposeBoolean('resources'),
    enabled: t.exposeBoolean('enabled'),
    version: t.exposeInt('version'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    operation: t.field({ type: Operation, nullable: true, resolve: (endpoint) => endpoint.operation }),
    dryRun: t.exposeBoolean('dryRun', { nullable: true }),
  }),
})
const EndpointPage = pageType('EndpointPage', EndpointType)

const ServedToolType = builder.objectRef<endpoints.Served['tools'][number]>('ServedTool').implement({
  description: 'A tool of one record type.',
  fields: (t) => ({
    name: t.exposeString('name'),
    recordType: t.exposeString('recordType'),
    operation: t.exposeString('operation'),
    description: t.string({ nullable: true, resolve: ({ description }) => description.text }),
    isDescribed: t.boolean({
      description: 'The description is all there is to say of the tool.',
      resolve: ({ description: { text, isOnly } }) => isOnly && text !== null,
    }),
    fields: t.stringList({
      nullable: true,
      description: 'The properties of data that it knows, as `data.name`; null for all.',
      resolve: ({ bounds }) => (bounds.fields ? [...bounds.fields] : null),
    }),
    defaults: t.stringList({
      description: 'The properties of data that a new record gets without being told.',
      resolve: ({ bounds }) => Object.keys(bounds.defaults ?? {}),
    }),
  }),
})

const ServedLinkType = builder.objectRef<endpoints.Served['links'][number]>('ServedLink').implement({
  description: 'A tool of one relationship type.',
  fields: (t) => ({
    name: t.exposeString('name'),
    relType: t.exposeString('relType'),
    operation: t.exposeString('operation'),
    sources: t.exposeStringList('sources', { description: 'The record types it may start from.' }),
    targets: t.exposeStringList('targets', { description: 'The record types it may lead to.' }),
  }),
})

const ServedEndpointType = builder.objectRef<endpoints.Served>('ServedEndpoint').implement({
  description: 'What an endpoint offers to the token: its tools, as far as the grants reach.',
  fields: (t) => ({
    stamp: t.exposeString('stamp', { description: 'Another one whenever its tools may be others.' }),
    instructions: t.exposeString('instructions', { nullable: true }),
    resources: t.exposeBoolean('resources'),
    sqlQuery: t.exposeBoolean('sqlQuery'),
    tools: t.field({ type: [ServedToolType], resolve: ({ tools }) => [...tools] }),
    links: t.field({ type: [ServedLinkType], resolve: ({ links }) => [...links] }),
    batch: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'The operations of its batch: `{ records: { <type>: […] }, relationships: { <type>: […] } }`.',
      resolve: ({ batch }) => batch,
    }),
    tool: t.string({
      nullable: true,
      description: 'The name now of the tool that is or was called `name`.',
      args: { name: t.arg.string({ required: true }) },
      resolve: ({ find }, { name }) => find(name),
    }),
    withholds: t.boolean({
      description: 'Is a tool of the name beyond the grants of the token?',
      args: { name: t.arg.string({ required: true }) },
      resolve: ({ withholds }, { name }) => withholds(name),
    }),
  }),
})

builder.queryFields((t) => ({
  servedEndpoint: t.field({
    type: ServedEndpointType,
    args: {
      base: t.arg.string({ required: true }),
      id: t.arg.string({ required: true }),
      whole: t.arg.boolean({
        description:
          'What it offers to any token, even if it is switched off; takes `read` on the whole base.',
      }),
    },
    resolve: (_root, { base, id, whole }, { scope }) =>
      endpoints.servedEndpoint(scope, base, id, whole ?? false),
  }),
  endpoints: t.field({
    type: EndpointPage,
    description: 'The endpoints of a base, newest first.',
    args: { base: t.arg.string({ required: true }), ...pageArgs() },
    resolve: (_root, { base, ...args }, { scope }) => endpoints.listEndpoints(scope, base, args),
  }),
  endpoint: t.field({
    type: EndpointType,
    args: { base: t.arg.string({ required: true }), id: t.arg.string({ required: true }) },
    resolve: (_root, { base, id }, { scope }) => endpoints.getEndpoint(scope, base, id),
  }),
}))

const EndpointInput = builder.inputType('EndpointInput', {
  fields: (t) => ({
    name: t.string(),
    description: t.string(),
    instructions: t.string(),
    toolsets: t.stringList(),
    tools: t.field({ type: 'JSON', description: TOOLS }),
    relationships: t.field({ type: 'JSON' }),
    batch: t.field({ type: 'JSON' }),
    sqlQuery: t.boolean(),
    resources: t.boolean(),
    enabled: t.boolean(),
  }),
})

mutation('putEndpoint', {
  description: 'Creates an endpoint or replaces it whole.',
  type: EndpointType,
  args: {
    ...builder.args((t) => ({
      base: t.string({ required: true }),
      id: t.string({ required: true }),
      input: t.field({ type: EndpointInput, required: true }),
    })),
    ...expectationArgs(),
  },
  resolve: (scope, { base, id, input, ...expected }) =>
    endpoints.putEndpoint(scope, base, id, input, expectation(expected)),
})

mutation('deleteEndpoint', {
  description: 'Deletes an endpoint; its address is gone with it.',
  type: Deleted,
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    id: t.string({ required: true }),
    ...versionArgs(),
  })),
  resolve: (scope, { base, id, ...expected }) =>
    endpoints.deleteEndpoint(scope, base, id, expectation(expected)),
})
