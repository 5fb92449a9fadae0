/** GraphQL type, queries and mutations of endpoints. */
import * as endpoints from '../engine/configuration/endpoints/index.ts'
import { builder } from './builder.ts'
import { configuration } from './configuration.ts'

const TOOLS =
  'Selections of tools: `[{ record_type, operations, name_override?, description_override?, fields?, filter?, write_filter?, defaults? }]`.'

const ACTIONS = 'Actions that it offers as tools: `["<id>" | { id, run_as }]`.'

configuration('Endpoint', endpoints.ENDPOINT, {
  description: 'A set of tools at an MCP address of its own.',
  fields: (t) => ({
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    instructions: t.exposeString('instructions', { nullable: true }),
    toolsets: t.exposeStringList('toolsets'),
    tools: t.expose('tools', { type: 'JSON', description: TOOLS }),
    relationships: t.expose('relationships', { type: 'JSON', description: '`[{ rel_type, operations }]`.' }),
    batch: t.expose('batch', { type: 'JSON', description: '`{ enabled, operations? }`.' }),
    actions: t.expose('actions', { type: 'JSON', description: ACTIONS }),
    sqlQuery: t.exposeBoolean('sqlQuery'),
    undo: t.exposeBoolean('undo'),
    resources: t.exposeBoolean('resources'),
    enabled: t.exposeBoolean('enabled'),
  }),
  inputs: (t) => ({
    name: t.string(),
    description: t.string(),
    instructions: t.string(),
    toolsets: t.stringList(),
    tools: t.field({ type: 'JSON', description: TOOLS }),
    relationships: t.field({ type: 'JSON' }),
    batch: t.field({ type: 'JSON' }),
    actions: t.field({ type: 'JSON', description: ACTIONS }),
    sqlQuery: t.boolean(),
    undo: t.boolean(),
    resources: t.boolean(),
    enabled: t.boolean(),
  }),
  list: 'The endpoints of a base, newest first.',
  put: 'Creates an endpoint or replaces it whole.',
  remove: 'Deletes an endpoint and its address.',
})

const ServedToolType = builder
  .objectRef<endpoints.ResolvedEndpoint['tools'][number]>('ServedTool')
  .implement({
    description: 'A tool of one record type.',
    fields: (t) => ({
      name: t.exposeString('name'),
      recordType: t.exposeString('recordType'),
      operation: t.exposeString('operation'),
      description: t.string({ nullable: true, resolve: ({ description }) => description.text }),
      isDescribed: t.boolean({
        description: 'True if the description is complete: nothing is added to it.',
        resolve: ({ description: { text, isOnly } }) => isOnly && text !== null,
      }),
      fields: t.stringList({
        nullable: true,
        description:
          'The fields of data that the tool can read and write, such as `data.name`; null for all.',
        resolve: ({ bounds }) => (bounds.fields ? [...bounds.fields] : null),
      }),
      attaches: t.boolean({
        description: 'Whether its selection offers the attachments of the records.',
        resolve: ({ bounds }) => bounds.attachments,
      }),
      defaults: t.stringList({
        description: 'Default values of data for new records.',
        resolve: ({ bounds }) => Object.keys(bounds.defaults ?? {}),
      }),
    }),
  })

const ServedLinkType = builder
  .objectRef<endpoints.ResolvedEndpoint['links'][number]>('ServedLink')
  .implement({
    description: 'A tool of one relationship type.',
    fields: (t) => ({
      name: t.exposeString('name'),
      relType: t.exposeString('relType'),
      operation: t.exposeString('operation'),
      sources: t.exposeStringList('sources', { description: 'The allowed source record types.' }),
      targets: t.exposeStringList('targets', { description: 'The allowed target record types.' }),
    }),
  })

const ServedActionType = builder
  .objectRef<endpoints.ResolvedEndpoint['actions'][number]>('ServedAction')
  .implement({
    description: 'An action as a tool.',
    fields: (t) => ({
      name: t.exposeString('name'),
      id: t.exposeString('id'),
      title: t.exposeString('title'),
      description: t.exposeString('description', { nullable: true }),
      inputSchema: t.expose('inputSchema', { type: 'JSON' }),
      isRead: t.exposeBoolean('isRead', { description: 'Whether all of its steps are queries.' }),
      isOpen: t.exposeBoolean('isOpen', { description: 'Whether it sends requests.' }),
    }),
  })

type About = endpoints.ResolvedEndpoint['about']
const ServedAboutType = builder.objectRef<About>('ServedEndpointAbout').implement({
  description: 'The configuration of an endpoint without its tool selections.',
  fields: (t) => ({
    id: t.exposeString('id'),
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    instructions: t.exposeString('instructions', { nullable: true }),
    toolsets: t.stringList({ resolve: ({ toolsets }) => [...toolsets] }),
    relationships: t.expose('relationships', { type: 'JSON' }),
    batch: t.expose('batch', { type: 'JSON' }),
    actions: t.expose('actions', { type: 'JSON' }),
    sqlQuery: t.exposeBoolean('sqlQuery'),
    undo: t.exposeBoolean('undo'),
    resources: t.exposeBoolean('resources'),
    enabled: t.exposeBoolean('enabled'),
    version: t.exposeInt('version'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
  }),
})

const ServedEndpointType = builder.objectRef<endpoints.ResolvedEndpoint>('ServedEndpoint').implement({
  description: 'The tools of an endpoint that the grants of the token allow.',
  fields: (t) => ({
    stamp: t.exposeString('stamp', { description: 'Changes whenever the tools may have changed.' }),
    about: t.expose('about', { type: ServedAboutType }),
    instructions: t.exposeString('instructions', { nullable: true }),
    resources: t.exposeBoolean('resources'),
    sqlQuery: t.exposeBoolean('sqlQuery'),
    undo: t.exposeBoolean('undo'),
    tools: t.field({ type: [ServedToolType], resolve: ({ tools }) => [...tools] }),
    links: t.field({ type: [ServedLinkType], resolve: ({ links }) => [...links] }),
    actions: t.field({ type: [ServedActionType], resolve: ({ actions }) => [...actions] }),
    batch: t.expose('batch', {
      type: 'JSON',
      nullable: true,
      description:
        'The operations of its batch: `{ records: { <type>: […] }, relationships: { <type>: […] } }`.',
    }),
    warnings: t.stringList({
      description: 'What can never work, for readers of the configuration of the base.',
      resolve: ({ warnings }) => [...warnings],
    }),
    tool: t.string({
      nullable: true,
      description: 'The current name of the tool that is or was named `name`.',
      args: { name: t.arg.string({ required: true }) },
      resolve: ({ find }, { name }) => find(name),
    }),
    withholds: t.boolean({
      description: 'Whether a tool of this name exists but is not covered by the grants of the token.',
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
          'The tools for any token, even if the endpoint is disabled. Requires `read` on the whole base.',
      }),
    },
    resolve: (_root, { base, id, whole }, { scope }) =>
      endpoints.servedEndpoint(scope, base, id, whole ?? false),
  }),
}))
