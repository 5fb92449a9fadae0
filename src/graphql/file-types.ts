/** GraphQL type, queries and mutations of file types. */
import { FILE_TYPE, seesFileTypes } from '../engine/configuration/file-types/index.ts'
import { builder } from './builder.ts'
import { configuration } from './configuration.ts'

configuration('FileType', FILE_TYPE, {
  description: 'A group of files with one storage policy and one schema of metadata.',
  fields: (t) => ({
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    storage: t.expose('storage', {
      type: 'JSON',
      description: 'Storage policy: `max_bytes`, `content_types`, `keep_versions`, `immutable`.',
    }),
    metadataSchema: t.expose('metadataSchema', { type: 'JSON' }),
  }),
  inputs: (t) => ({
    name: t.string(),
    description: t.string(),
    storage: t.field({ type: 'JSON' }),
    metadataSchema: t.field({ type: 'JSON', description: 'The JSON Schema of the metadata of its files.' }),
  }),
  list: 'The file types of a base, newest first.',
  put: 'Creates a file type or replaces it whole.',
  remove: 'Deletes a file type. If it has files, `confirm` must equal its id.',
  confirms: true,
})

builder.queryField('seesFileTypes', (t) =>
  t.boolean({
    description: 'Whether the token can read a file type of the base; without a base, of any.',
    args: { base: t.arg.string() },
    resolve: (_root, { base }, { scope }) => seesFileTypes(scope, base ?? null),
  }),
)
