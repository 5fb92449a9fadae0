import { configuration } from '../command/configuration.ts'
import { description, json, name, type Option, text } from '../command/options.ts'

const flag = (flags: string, field: string, about: string, value: boolean): Option => ({
  flags,
  about,
  to: { body: field },
  value,
})

/** Option for tool selections, shared by endpoints and toolsets. */
export const tools = json(
  '--tools <json>',
  'tools',
  'a list of { record_type, operations, name_override, description_override, fields, filter, defaults }',
)

export const endpoint = configuration('/:base_id/endpoints', {
  summary: 'Endpoints: sets of tools at MCP addresses of their own',
  label: 'an endpoint',
  columns: ['id', 'name', 'toolsets', 'enabled', 'version'],
  fields: [
    name,
    description,
    text('--instructions <text>', 'instructions', 'shown to the model before any tool'),
    {
      flags: '--toolsets <ids>',
      about: 'toolsets whose tools it has too, with commas between them',
      to: { body: 'toolsets' },
      read: (written) => written.split(','),
    },
    tools,
    json('--relationships <json>', 'relationships', 'a list of { rel_type, operations }'),
    json('--batch <json>', 'batch', 'a batch tool: { enabled, operations }'),
    flag('--sql-query', 'sql_query', 'offer sql_query over the types that nothing bounds', true),
    flag('--resources', 'resources', 'offer what its tools may read as resources too', true),
    flag('--disabled', 'enabled', 'switch it off: its address is not found', false),
  ],
})
