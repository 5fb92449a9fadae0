/** REST routes that convert tools from and to the formats of model providers. */

import { z } from 'zod'
import { trim } from '../contract/response-bodies.ts'
import { graphql } from '../graphql/document.ts'
import { Record } from './records/shapes.ts'
import { byName } from './route/by-name.ts'
import { route, tagged } from './route/route.ts'
import { anywhere, baseAccess, baseId, onType, typeId } from './route/shapes.ts'

const params = z.strictObject({
  base_id: baseId(),
  provider: z.string().meta({ description: '`openai`, `anthropic`, `google` (= `gemini`) or `mcp`.' }),
})
const Native = z.record(z.string(), z.unknown())

export const providers = tagged('Providers', [
  route('POST /:base_id/providers/:provider/import', {
    size: 'bulk',
    summary: 'Create a record type from each tool definition',
    need: anywhere('manage'),
    params,
    body: z.strictObject({
      tools: z.array(z.unknown()).min(1).meta({ description: "The provider's native tool definitions." }),
      dry_run: z.boolean().optional(),
    }),
    operation:
      graphql(`mutation ImportTools($base: String!, $provider: String!, $tools: JSON!, $dryRun: Boolean) {
      importTools(base: $base, provider: $provider, tools: $tools, dryRun: $dryRun) { data meta dry_run: dryRun }
    }`),
    answers: z.object({
      data: z.array(
        z.object({ record_type: z.string(), operation: z.string(), warnings: z.array(z.string()) }),
      ),
      meta: z.object({ count: z.int() }),
      dry_run: z.literal(true).optional(),
    }),
  }),
  route('GET /:base_id/providers/:provider/export', {
    summary: "Export record types as the provider's tool definitions",
    need: baseAccess,
    params,
    query: z.strictObject({
      record_types: z
        .string()
        .min(1)
        .optional()
        .meta({ description: 'Comma-separated ids. Defaults to all types that the token can read.' }),
      shape: z
        .enum(['chat', 'responses'])
        .optional()
        .meta({ description: '`openai` only: `chat` (Chat Completions) or `responses`.' }),
    }),
    operation:
      graphql(`query ExportTools($base: String!, $provider: String!, $recordTypes: [String!], $shape: ProviderShape) {
      exportTools(base: $base, provider: $provider, recordTypes: $recordTypes, shape: $shape) { provider tools warnings }
    }`),
    variables: (parts) => ({ ...byName(parts), recordTypes: parts.query.record_types?.split(',') }),
    answers: z.object({ provider: z.string(), tools: z.array(z.unknown()), warnings: z.array(z.string()) }),
  }),
  route('POST /:base_id/providers/:provider/records/:record_type', {
    size: 'record',
    summary: 'Create a record from a native tool call',
    need: onType('write'),
    params: params.extend({ record_type: typeId }),
    body: Native.meta({ description: "The provider's native tool-call object." }),
    operation:
      graphql(`mutation RecordToolCall($base: String!, $provider: String!, $recordType: String!, $call: JSON!) {
      recordToolCall(base: $base, provider: $provider, recordType: $recordType, call: $call) {
        operation tool_result: toolResult dry_run: dryRun
        record {
          id record_type: recordType data created_at: createdAt updated_at: updatedAt external_id: externalId
          external_source: externalSource version status cancelled_at: cancelledAt valid
        }
      }
    }`),
    variables: ({ params, body }) => ({
      base: params.base_id,
      provider: params.provider,
      recordType: params.record_type,
      call: body,
    }),
    reply: ({ recordToolCall: { record, operation, tool_result, dry_run } }, { params }) => ({
      status: operation === 'created' ? 201 : 200,
      location: `/v1/${params.base_id}/records/${params.record_type}/${record.id}`,
      body: trim({ ...record, operation, tool_result, dry_run }),
    }),
    statuses: [200, 201],
    answers: Record.extend({ tool_result: z.unknown() }).meta({ id: 'ToolCallRecord' }),
  }),
])
