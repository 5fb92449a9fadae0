/** Commands of bases. */
import type { Noun } from '../command/command.ts'
import {
  confirm,
  createOnly,
  description,
  ifMatch,
  json,
  name,
  paging,
  query,
  writing,
} from '../command/options.ts'

const include = query(
  '--include <counts>',
  'include',
  'counts: the numbers of record types and records (with --json)',
)

export const base: Noun = {
  name: 'base',
  summary: 'Bases: the separate databases of an installation',
  columns: ['id', 'name', 'environment', 'version', 'updated_at', 'description'],
  rows: [
    { name: 'list', summary: 'List bases', method: 'GET', path: '/bases', options: [include, ...paging] },
    { name: 'get', summary: 'Show a base', method: 'GET', path: '/bases/:id', options: [include] },
    {
      name: 'put',
      summary: 'Create a base or replace its name, description and settings',
      method: 'PUT',
      path: '/bases/:id',
      options: [
        name,
        description,
        json('--settings <json>', 'settings', 'its settings'),
        ifMatch,
        createOnly,
        ...writing,
      ],
    },
    {
      name: 'delete',
      summary: 'Delete a base and everything in it',
      method: 'DELETE',
      path: '/bases/:id',
      options: [confirm, ifMatch, ...writing],
    },
  ],
}
