/** Commands of record types. */
import { configuration } from '../command/configuration.ts'
import { commandOf } from '../command/operations.ts'

export const recordType = configuration('record-types', {
  summary: 'Record types: the kinds of records in a base, and their schemas',
  columns: ['id', 'name', 'version', 'updated_at', 'description'],
  says: {
    json_schema: '--schema <json> the JSON Schema of its records (default: any object)',
    indexes: 'declared indexes: [{"fields":["data.status"]}]',
    timezone: '<name> an IANA time zone (default: UTC)',
    icon: 'an icon for user interfaces',
    color: 'a color for user interfaces',
    sources: 'external sources of its records: [{"name","get",…}]',
    display: 'free settings for user interfaces',
    on_invalid: '<allow> allow: keep records that violate the schema',
    migrate: 'implied by --migration',
    migration: 'steps that migrate the records: [{"op":"rename","field":"data.a","to":"data.b"}]',
  },
  more: [
    commandOf('recordTypes.profile', 'profile', {
      summary: 'Show statistics and examples of the records of a type',
    }),
    commandOf('recordTypes.infer', 'infer', { without: ['from'] }),
  ],
})
