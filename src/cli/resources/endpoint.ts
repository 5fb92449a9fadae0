import type { Noun } from '../command/command.ts'
import {
  createOnly,
  description,
  ifMatch,
  json,
  name,
  type Option,
  paging,
  text,
  writing,
} from '../command/options.ts'

const flag = (flags: string, field: string, about: string, value: boolean): Option => ({
  flags,
  about,
  to: { body: field },
  value,
})

/** Selections of tools, which endpoints and toolsets are put with. */
export const tools = json(
  '--tools <json>',
  'tools',
  'a list of { record_type, operations, name_override, description_override, fields, filter, defaults }',
)

const fields: readonly Option[] = [
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
]

export const endpoint: Noun = {
  name: 'endpoint',
  summary: 'Endpoints: sets of tools at MCP addresses of their own',
  columns: ['id', 'name', 'toolsets', 'enabled', 'version'],
  rows: [
    {
      name: 'list',
      summary: 'List endpoints',
      method: 'GET',
      path: '/:base_id/endpoints',
      options: paging,
    },
    {
      name: 'get',
      summary: 'Show an endpoint',
      method: 'GET',
      path: '/:base_id/endpoints/:id',
      options: [],
    },
    {
      name: 'put',
      summary: 'Create an endpoint or replace it',
      method: 'PUT',
      path: '/:base_id/endpoints/:id',
      options: [...fields, ifMatch, createOnly, ...writing],
    },
    {
      name: 'delete',
      summary: 'Delete an endpoint',
      method: 'DELETE',
      path: '/:base_id/endpoints/:id',
      options: [ifMatch, ...writing],
    },
  ],
}
