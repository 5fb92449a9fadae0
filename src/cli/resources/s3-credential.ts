/** Commands of S3 credentials. */
import type { Noun } from '../command/command.ts'
import { count, paging, text, writing } from '../command/options.ts'

const PATH = '/:base_id/s3-credentials'

export const s3Credential: Noun = {
  name: 's3-credential',
  summary: 'S3 credentials: temporary keys to files, for tools that speak S3',
  columns: ['id', 'masked', 'prefix', 'permission', 'expires_at'],
  rows: [
    {
      name: 'list',
      summary: 'List the valid credentials, without their secrets',
      method: 'GET',
      path: PATH,
      options: paging,
    },
    {
      name: 'create',
      summary: 'Create a credential; its secrets are shown once, with commands that mount the files',
      method: 'POST',
      path: PATH,
      options: [
        text('--file-type <id>', 'file_type', 'the file type that it reaches (default: all of the base)'),
        { ...text('--permission <permission>', 'permission', 'read or write'), required: true },
        {
          ...count('--expires-in <seconds>', 'expires_in', 'seconds until it expires, at most 43200'),
          required: true,
        },
        ...writing,
      ],
    },
    {
      name: 'revoke',
      alias: 'delete',
      summary: 'Revoke a credential',
      method: 'DELETE',
      path: `${PATH}/:id`,
      options: writing,
    },
  ],
}
