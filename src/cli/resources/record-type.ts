/** Commands of record types. */
import { configuration } from '../command/configuration.ts'
import { description, json, name, type Option, query, text } from '../command/options.ts'

const fields: readonly Option[] = [
  name,
  description,
  json('--schema <json>', 'json_schema', 'the JSON Schema of its records (default: any object)'),
  json('--indexes <json>', 'indexes', 'declared indexes: [{"fields":["data.status"]}]'),
  text('--timezone <name>', 'timezone', 'an IANA time zone (default: UTC)'),
  text('--icon <text>', 'icon', 'an icon for user interfaces'),
  text('--color <text>', 'color', 'a color for user interfaces'),
  json('--sources <json>', 'sources', 'external sources of its records: [{"name","get",…}]'),
  json('--display <json>', 'display', 'free settings for user interfaces'),
]

/** Options for records that do not match a changed schema. */
const change: readonly Option[] = [
  query('--on-invalid <allow>', 'on_invalid', 'allow: keep records that violate the schema'),
  {
    flags: '--migrate',
    about: 'implied by --migration',
    to: { query: 'migrate' },
    value: 'true',
  },
  json(
    '--migration <json>',
    'migration',
    'steps that migrate the records: [{"op":"rename","field":"data.a","to":"data.b"}]',
  ),
]

export const recordType = configuration('/:base_id/record-types', {
  summary: 'Record types: the kinds of records in a base, and their schemas',
  label: 'a record type',
  columns: ['id', 'name', 'version', 'updated_at', 'description'],
  fields: [...fields, ...change],
  confirms: true,
  more: [
    {
      name: 'profile',
      summary: 'Show statistics and examples of the records of a type',
      method: 'GET',
      path: '/:base_id/record-types/:id/profile',
      options: [],
    },
    {
      name: 'infer',
      summary: 'Propose a JSON Schema from the records of a type',
      method: 'GET',
      path: '/:base_id/record-types/:id/infer',
      options: [],
    },
  ],
})
