import { configuration } from '../command/configuration.ts'
import { commandOf } from '../command/operations.ts'
import { flag, type Option, orJson, textFile } from '../command/options.ts'

/** What the option for tool selections says, shared by endpoints and toolsets. */
export const tools =
  'a list of { record_type, operations, name_override, description_override, fields, filter, write_filter, defaults }'

/** Ids, or JSON where an action says with whose rights it runs. */
const actions: Option = {
  flags: '--actions <ids>',
  about:
    'actions that are offered as tools, comma-separated; or a list of { id, run_as } (JSON, @file, or -)',
  to: { body: 'actions' },
  read: orJson((written) => written.split(',')),
}

export const endpoint = configuration('endpoints', {
  summary: 'Endpoints: sets of tools at their own MCP addresses',
  columns: ['id', 'name', 'toolsets', 'enabled', 'version'],
  says: {
    instructions: textFile('--instructions <text>', 'instructions', 'shown to the model before any tool'),
    toolsets: 'toolsets whose tools are added',
    tools,
    relationships: 'a list of { rel_type, operations }',
    batch: 'a batch tool: { enabled, operations }',
    actions,
    sql_query: 'offer sql_query on the types without filter and fields',
    undo: 'offer undo: a caller takes back its own requests at the endpoint',
    resources: 'also offer what its tools can read as resources',
    enabled: flag('--disabled', 'enabled', 'disable it: its address returns 404', false),
  },
  more: [commandOf('endpoints.resolved', 'resolved', { summary: 'Show the tools that an endpoint serves' })],
})
