/** Commands of file types. */
import { configuration } from '../command/configuration.ts'

export const fileType = configuration('file-types', {
  summary: 'File types: storage policies of files, and the schemas of their metadata',
  columns: ['id', 'name', 'version'],
  says: {
    storage: '{"max_bytes","content_types","keep_versions","immutable"}, each optional',
    metadata_schema: '--schema <json> the JSON Schema of their metadata (default: any object)',
  },
})
