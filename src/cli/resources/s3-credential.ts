/** Commands of S3 credentials. */
import type { Noun } from '../command/command.ts'
import { commandOf } from '../command/operations.ts'

export const s3Credential: Noun = {
  name: 's3-credential',
  summary: 'S3 credentials: temporary keys to files, for tools that speak S3',
  columns: ['id', 'masked', 'prefix', 'permission', 'expires_at'],
  rows: [
    commandOf('s3Credentials.list', 'list', { summary: 'List the valid credentials, without their secrets' }),
    commandOf('s3Credentials.create', 'create', {
      summary: 'Create a credential; its secrets are shown once, with commands that mount the files',
      says: {
        file_type: '<id> the file type that it reaches (default: all of the base)',
        permission: '<permission> read or write',
        expires_in: '<seconds> seconds until it expires, at most 43200',
      },
    }),
    commandOf('s3Credentials.delete', 'revoke', { alias: 'delete', summary: 'Revoke a credential' }),
  ],
}
