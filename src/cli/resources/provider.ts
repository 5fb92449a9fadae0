/** Commands of tool definitions and tool calls of model providers. */
import type { Noun } from '../command/command.ts'
import { commandOf } from '../command/operations.ts'
import { json } from '../command/options.ts'
import { note, print, show, showRows } from '../command/print.ts'

type Imported = { data: Record<string, unknown>[]; meta: { count: number } }
type Exported = { tools: unknown[]; warnings: string[] }

export const provider: Noun = {
  name: 'provider',
  summary: 'Providers: tools and tool calls of OpenAI, Anthropic, Google and MCP',
  columns: [],
  rows: [
    commandOf('providers.import', 'import', {
      says: { tools: 'a list of tool definitions of the provider' },
      show: ({ body }) => {
        const { data, meta } = body as Imported
        showRows(data, ['record_type', 'operation', 'warnings'])
        note(`${meta.count} tools\n`)
      },
    }),
    commandOf('providers.export', 'export', {
      summary: 'Show record types as tool definitions of the provider',
      says: {
        record_types: '<ids> only these, comma-separated',
        shape: '<shape> of openai: chat or responses',
      },
      show: ({ body }) => {
        const { tools, warnings } = body as Exported
        print(`${JSON.stringify(tools, null, 2)}\n`)
        for (const warning of warnings) note(`${warning}\n`)
      },
    }),
    commandOf('providers.call', 'call', {
      summary: 'Create a record from a tool call of a model',
      needsBody: true,
      also: [
        {
          ...json('--call <json>', 'call', 'the tool call, as the provider sends it'),
          to: { content: 'application/json' },
          required: true,
        },
      ],
      show: (answer) => show(answer, []),
    }),
  ],
}
