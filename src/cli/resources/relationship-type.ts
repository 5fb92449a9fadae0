/** Commands of relationship types. */
import { configuration } from '../command/configuration.ts'
import type { Option } from '../command/options.ts'

const ids = (flags: string, field: string, about: string): Option => ({
  flags,
  about: `${about}, comma-separated (default: any)`,
  to: { body: field },
  read: (written) => written.split(','),
})

export const relationshipType = configuration('relationship-types', {
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
  says: {
    data_schema: '--schema <json> the JSON Schema of their data (default: any object)',
    source_record_types: ids('--source <types>', 'source_record_types', 'the source record types'),
    target_record_types: ids('--target <types>', 'target_record_types', 'the target record types'),
    cardinality: '<kind> many_to_many, one_to_many, many_to_one or one_to_one',
    on_delete: '<what> unlink, restrict or cascade: what deleting the target does',
    on_invalid: '<allow> allow: keep relationships that violate the schema',
  },
})
