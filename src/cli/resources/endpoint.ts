import { configuration } from '../command/configuration.ts'
import { description, flag, json, list, name, type Option, textFile } from '../command/options.ts'

/** Option for tool selections, shared by endpoints and toolsets. */
export const tools = json(
  '--tools <json>',
  'tools',
  'a list of { record_type, operations, name_override, description_override, fields, filter, write_filter, defaults }',
)

/** Ids, or JSON where an action says with whose rights it runs. */
const actions: Option = {
  flags: '--actions <ids>',
  about: 'actions that are offered as tools, comma-separated; or a JSON list of { id, run_as }',
  to: { body: 'actions' },
  read: (written) => (written.startsWith('[') ? JSON.parse(written) : written.split(',')),
}

export const endpoint = configuration('/:base_id/endpoints', {
  summary: 'Endpoints: sets of tools at their own MCP addresses',
  label: 'an endpoint',
  columns: ['id', 'name', 'toolsets', 'enabled', 'version'],
  fields: [
    name,
    description,
    textFile('--instructions <text>', 'instructions', 'shown to the model before any tool'),
    list('--toolsets <ids>', 'toolsets', 'toolsets whose tools are added'),
    tools,
    json('--relationships <json>', 'relationships', 'a list of { rel_type, operations }'),
    json('--batch <json>', 'batch', 'a batch tool: { enabled, operations }'),
    actions,
    flag('--sql-query', 'sql_query', 'offer sql_query on the types without filter and fields', true),
    flag('--undo', 'undo', 'offer undo: a caller takes back its own requests at the endpoint', true),
    flag('--resources', 'resources', 'also offer what its tools can read as resources', true),
    flag('--disabled', 'enabled', 'disable it: its address returns 404', false),
  ],
  more: [
    {
      name: 'resolved',
      summary: 'Show the tools that an endpoint serves',
      method: 'GET',
      path: '/:base_id/endpoints/:id/resolved',
      options: [],
    },
  ],
})
