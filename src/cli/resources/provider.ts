/** Commands of tool definitions and tool calls of model providers. */
import type { Noun } from '../command/command.ts'
import { json, query, writing } from '../command/options.ts'
import { note, print, show, showRows } from '../command/print.ts'

type Imported = { data: Record<string, unknown>[]; meta: { count: number } }
type Exported = { tools: unknown[]; warnings: string[] }

export const provider: Noun = {
  name: 'provider',
  summary: 'Providers: tools and tool calls of OpenAI, Anthropic, Google and MCP',
  columns: [],
  rows: [
    {
      name: 'import',
      summary: 'Create a record type from each tool definition',
      method: 'POST',
      path: '/:base_id/providers/:provider/import',
      options: [
        { ...json('--tools <json>', 'tools', 'a list of tool definitions of the provider'), required: true },
        ...writing,
      ],
      show: ({ body }) => {
        const { data, meta } = body as Imported
        showRows(data, ['record_type', 'operation', 'warnings'])
        note(`${meta.count} tools\n`)
      },
    },
    {
      name: 'export',
      summary: 'Show record types as tool definitions of the provider',
      method: 'GET',
      path: '/:base_id/providers/:provider/export',
      options: [
        query('--record-types <ids>', 'record_types', 'only these, comma-separated'),
        query('--shape <shape>', 'shape', 'of openai: chat or responses'),
      ],
      show: ({ body }) => {
        const { tools, warnings } = body as Exported
        print(`${JSON.stringify(tools, null, 2)}\n`)
        for (const warning of warnings) note(`${warning}\n`)
      },
    },
    {
      name: 'call',
      summary: 'Create a record from a tool call of a model',
      method: 'POST',
      path: '/:base_id/providers/:provider/records/:record_type',
      needsBody: true,
      options: [
        {
          ...json('--call <json>', 'call', 'the tool call, as the provider sends it'),
          to: { content: 'application/json' },
          required: true,
        },
        ...writing,
      ],
      show: (answer) => show(answer, []),
    },
  ],
}
