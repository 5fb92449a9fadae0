import type { Noun } from '../command/command.ts'
import { createOnly, description, ifMatch, name, paging, writing } from '../command/options.ts'
import { tools } from './endpoint.ts'

export const toolset: Noun = {
  name: 'toolset',
  summary: 'Toolsets: lists of tools that endpoints share',
  columns: ['id', 'name', 'version'],
  rows: [
    {
      name: 'list',
      summary: 'List toolsets',
      method: 'GET',
      path: '/:base_id/toolsets',
      options: paging,
    },
    {
      name: 'get',
      summary: 'Show a toolset',
      method: 'GET',
      path: '/:base_id/toolsets/:id',
      options: [],
    },
    {
      name: 'put',
      summary: 'Create a toolset or replace it',
      method: 'PUT',
      path: '/:base_id/toolsets/:id',
      options: [name, description, tools, ifMatch, createOnly, ...writing],
    },
    {
      name: 'delete',
      summary: 'Delete a toolset that no endpoint has',
      method: 'DELETE',
      path: '/:base_id/toolsets/:id',
      options: [ifMatch, ...writing],
    },
  ],
}
