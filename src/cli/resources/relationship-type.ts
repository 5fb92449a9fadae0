import type { Noun } from '../command/command.ts'
import {
  confirm,
  createOnly,
  description,
  ifMatch,
  json,
  name,
  type Option,
  paging,
  query,
  text,
  writing,
} from '../command/options.ts'

const ids = (flags: string, field: string, about: string): Option => ({
  flags,
  about: `${about}, with commas between them; any when left out`,
  to: { body: field },
  read: (written) => written.split(','),
})

const fields: readonly Option[] = [
  name,
  description,
  json(
    '--schema <json>',
    'data_schema',
    'the JSON Schema of what its relationships hold; any object when left out',
  ),
  ids('--source <types>', 'source_record_types', 'the record types it starts from'),
  ids('--target <types>', 'target_record_types', 'the record types it leads to'),
  text('--cardinality <kind>', 'cardinality', 'many_to_many, one_to_many, many_to_one or one_to_one'),
  text('--on-delete <what>', 'on_delete', 'unlink, restrict or cascade: what deleting the target does'),
  query('--on-invalid <allow>', 'on_invalid', 'allow: keep relationships the schema refuses'),
]

export const relationshipType: Noun = {
  name: 'relationship-type',
  summary: 'Relationship types: the kinds of links between records',
  columns: [
    'id',
    'name',
    'source_record_types',
    'target_record_types',
    'cardinality',
    'on_delete',
    'version',
  ],
  rows: [
    {
      name: 'list',
      summary: 'List relationship types',
      method: 'GET',
      path: '/:base_id/relationship-types',
      options: paging,
    },
    {
      name: 'get',
      summary: 'Show a relationship type',
      method: 'GET',
      path: '/:base_id/relationship-types/:id',
      options: [],
    },
    {
      name: 'put',
      summary: 'Create a relationship type or replace it',
      method: 'PUT',
      path: '/:base_id/relationship-types/:id',
      options: [...fields, ifMatch, createOnly, ...writing],
    },
    {
      name: 'delete',
      summary: 'Delete a relationship type',
      method: 'DELETE',
      path: '/:base_id/relationship-types/:id',
      options: [confirm, ifMatch, ...writing],
    },
  ],
}
