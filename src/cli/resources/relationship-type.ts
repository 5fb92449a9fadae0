/** Commands of relationship types. */
import { configuration } from '../command/configuration.ts'
import { description, json, name, type Option, query, text } from '../command/options.ts'

const ids = (flags: string, field: string, about: string): Option => ({
  flags,
  about: `${about}, comma-separated (default: any)`,
  to: { body: field },
  read: (written) => written.split(','),
})

const fields: readonly Option[] = [
  name,
  description,
  json('--schema <json>', 'data_schema', 'the JSON Schema of their data (default: any object)'),
  ids('--source <types>', 'source_record_types', 'the source record types'),
  ids('--target <types>', 'target_record_types', 'the target record types'),
  text('--cardinality <kind>', 'cardinality', 'many_to_many, one_to_many, many_to_one or one_to_one'),
  text('--on-delete <what>', 'on_delete', 'unlink, restrict or cascade: what deleting the target does'),
  query('--on-invalid <allow>', 'on_invalid', 'allow: keep relationships that violate the schema'),
]

export const relationshipType = configuration('/:base_id/relationship-types', {
  summary: 'Relationship types: the kinds of links between records',
  label: 'a relationship type',
  columns: [
    'id',
    'name',
    'source_record_types',
    'target_record_types',
    'cardinality',
    'on_delete',
    'version',
  ],
  fields,
  confirms: true,
})
