/** GraphQL operations that convert tools from and to the formats of model providers. */
import * as providers from '../engine/analytics/providers/import-export.ts'
import { builder } from './builder.ts'
import { Operation } from './common.ts'
import { mutation } from './mutation.ts'
import { RecordRef } from './records.ts'

const ToolExport = builder
  .objectRef<{ provider: string; tools: unknown[]; warnings: string[] }>('ToolExport')
  .implement({
    description: "Record types as a provider's native tool definitions.",
    fields: (t) => ({
      provider: t.exposeString('provider'),
      tools: t.expose('tools', { type: 'JSON' }),
      warnings: t.exposeStringList('warnings', {
        description: 'What the dialect of the provider cannot express.',
      }),
    }),
  })
const ToolImport = builder.objectRef<providers.Imported>('ToolImport').implement({
  description: 'The record types created from tool definitions.',
  fields: (t) => ({
    data: t.expose('data', { type: 'JSON', description: '[{ record_type, operation, warnings }]' }),
    meta: t.expose('meta', { type: 'JSON' }),
  }),
})
const ToolCallRecord = builder.objectRef<providers.ToolCallRecord>('ToolCallRecord').implement({
  description: 'The record created from a tool call, and the response in the format of the provider.',
  fields: (t) => ({
    record: t.field({ type: RecordRef, resolve: (called) => called }),
    operation: t.expose('operation', { type: Operation, nullable: true }),
    toolResult: t.expose('toolResult', { type: 'JSON' }),
  }),
})
const ProviderShape = builder.enumType('ProviderShape', { values: ['chat', 'responses'] as const })

builder.queryField('exportTools', (t) =>
  t.field({
    type: ToolExport,
    args: {
      base: t.arg.string({ required: true }),
      provider: t.arg.string({ required: true }),
      recordTypes: t.arg.stringList({ description: 'Defaults to all that the token can read.' }),
      shape: t.arg({ type: ProviderShape, description: 'openai only. Defaults to chat.' }),
    },
    resolve: (_root, { base, provider, recordTypes, shape }, { scope }) =>
      providers.exportRecordTypes(scope, base, provider, recordTypes ?? null, shape ?? null),
  }),
)

mutation('importTools', {
  description: 'Creates a record type from each tool definition, all or none.',
  type: ToolImport,
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    provider: t.string({ required: true }),
    tools: t.field({ type: 'JSON', required: true }),
  })),
  resolve: (scope, { base, provider, tools }) => providers.importTools(scope, base, provider, tools),
})

mutation('recordToolCall', {
  description: 'Creates a record from a native tool call. Repeating the call returns the same record.',
  type: ToolCallRecord,
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    provider: t.string({ required: true }),
    recordType: t.string({ required: true }),
    call: t.field({ type: 'JSON', required: true }),
  })),
  resolve: (scope, { base, provider, recordType, call }) =>
    providers.recordToolCall(scope, base, provider, recordType, call),
})
