/** Commands of files. */
import type { Noun } from '../command/command.ts'
import { commandOf } from '../command/operations.ts'
import { headerJson, headerText, type Option, operations, query, textFile } from '../command/options.ts'
import { print } from '../command/print.ts'

const FILES = '/:base_id/files/:file_type'

const ifMatch: Option = {
  flags: '--if-match <sha256>',
  about: 'write only if this is the SHA-256 of the current content, or * for any',
  to: { header: 'if-match' },
  read: (written) => (written === '*' ? '*' : `"${written.replaceAll('"', '')}"`),
}
const contentType = 'such as text/plain'
const prefix = '<text> the beginning of the paths'

export const file: Noun = {
  name: 'file',
  summary: 'Files: contents at paths, with versions',
  columns: ['kind', 'path', 'size', 'version', 'content_type', 'updated_at'],
  rows: [
    commandOf('files.list', 'ls', {
      alias: 'list',
      summary: 'List the files and folders below a prefix',
      says: { prefix, depth: '<count> levels to list; deeper files are shown as folders' },
    }),
    commandOf('files.search', 'search', {
      argument: 'search',
      says: {
        file_type: '<id> only files of this type',
        prefix,
        match: '<all|any> whether all words must be there (default), or any',
        snippets: 'show what was found',
      },
      columns: ['file_type', 'path', 'version', '_search_score', '_snippets'],
    }),
    commandOf('files.download', 'get', {
      summary: 'Download a file to standard output, or to --output',
      transfer: 'download',
      only: ['version'],
      says: { version: '<number> download this version' },
      also: [{ flags: '--output <file>', about: 'write to this file', to: { local: 'output' } }],
    }),
    commandOf('files.download', 'lines', {
      summary: 'Print lines of a text file',
      only: ['lines', 'version'],
      says: {
        lines: { ...query('--lines <range>', 'lines', 'such as 10-20, or 10- to the end'), required: true },
        version: '<number> read this version',
      },
      show: ({ body }) => print((body as { text: string | null }).text ?? 'The content is binary.\n'),
    }),
    commandOf('files.download', 'show', {
      summary: 'Show the metadata of a file',
      query: { meta: '1' },
      only: ['version'],
    }),
    commandOf('files.upload', 'put', {
      summary: 'Upload a file, or "-" for standard input',
      transfer: 'upload',
      says: {
        'x-service-label': headerText('--label <text>', 'x-service-label', 'a label of the content version'),
        'x-file-metadata': headerJson('--metadata <json>', 'x-file-metadata', 'the metadata'),
        'if-match': ifMatch,
      },
      also: [headerText('--content-type <type>', 'content-type', `${contentType} (default: by the suffix)`)],
    }),
    commandOf('files.update', 'mv', {
      summary: 'Move a file to another path of its type',
      path: `${FILES}/:from`,
      argument: 'path',
      without: ['patch', 'edits', 'label', 'content_type', 'metadata'],
      says: { 'if-match': ifMatch },
    }),
    commandOf('files.update', 'edit', {
      summary: 'Edit the text of a file: apply a unified diff, or replace parts of it',
      needsBody: true,
      without: ['path', 'content_type', 'metadata'],
      says: {
        patch: { ...textFile('--patch <diff>', 'patch', 'a unified diff'), conflicts: 'edits' },
        edits: '[{"find","replace","all"}], of which all is optional',
        label: 'a label of the new content version',
        'if-match': ifMatch,
      },
    }),
    commandOf('files.update', 'tag', {
      summary: 'Change the metadata, the type or the label of a file',
      needsBody: true,
      without: ['path', 'patch', 'edits'],
      says: {
        content_type: `<type> ${contentType}`,
        label: 'the label of the current content version',
        metadata: 'a JSON Merge Patch of the metadata: null removes a member',
        'if-match': ifMatch,
      },
      also: [operations],
    }),
    commandOf('files.delete', 'rm', { alias: 'delete', says: { 'if-match': ifMatch } }),
    commandOf('files.download', 'history', {
      summary: 'List the content versions of a file, newest first',
      query: { history: '' },
      only: ['limit', 'cursor', 'offset', 'include_total'],
      columns: ['version', 'size', 'content_type', 'label', 'created_at', 'created_by', 'content_sha256'],
    }),
    commandOf('files.download', 'diff', {
      summary: 'Compare two content versions of a file',
      query: { diff: '' },
      only: ['from', 'to'],
      says: {
        from: { ...query('--from <version>', 'from', 'the earlier version'), required: true },
        to: { ...query('--to <version>', 'to', 'the later version'), required: true },
      },
      show: ({ body }) => print((body as { diff: string | null }).diff ?? 'The contents are binary.\n'),
    }),
  ],
}
