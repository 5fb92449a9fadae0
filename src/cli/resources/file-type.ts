/** Commands of file types. */
import { configuration } from '../command/configuration.ts'
import { description, json, name } from '../command/options.ts'

export const fileType = configuration('/:base_id/file-types', {
  summary: 'File types: storage policies of files, and the schemas of their metadata',
  label: 'a file type',
  columns: ['id', 'name', 'version'],
  fields: [
    name,
    description,
    json(
      '--storage <json>',
      'storage',
      '{"max_bytes","content_types","keep_versions","immutable"}, each optional',
    ),
    json('--schema <json>', 'metadata_schema', 'the JSON Schema of their metadata (default: any object)'),
  ],
  confirms: true,
})
