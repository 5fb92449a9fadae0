/** Commands of files. */
import type { Noun } from '../command/command.ts'
import {
  createOnly,
  headerJson,
  headerText,
  json,
  type Option,
  paging,
  query,
  snippets,
  text,
  textFile,
  writing,
} from '../command/options.ts'
import { print } from '../command/print.ts'

const FILES = '/:base_id/files/:file_type'
const ONE = `${FILES}/:path`

const ifMatch: Option = {
  flags: '--if-match <sha256>',
  about: 'write only if this is the SHA-256 of the current content, or * for any',
  to: { header: 'if-match' },
  read: (written) => (written === '*' ? '*' : `"${written.replaceAll('"', '')}"`),
}
const contentType = 'such as text/plain'

export const file: Noun = {
  name: 'file',
  summary: 'Files: contents at paths, with versions',
  columns: ['kind', 'path', 'size', 'version', 'content_type', 'updated_at'],
  rows: [
    {
      name: 'ls',
      alias: 'list',
      summary: 'List the files and folders below a prefix',
      method: 'GET',
      path: FILES,
      options: [
        query('--prefix <text>', 'prefix', 'the beginning of the paths'),
        query('--depth <count>', 'depth', 'levels to list; deeper files are shown as folders'),
        ...paging,
      ],
    },
    {
      name: 'search',
      summary: 'Find files by words of their paths and texts, best first',
      method: 'GET',
      path: '/:base_id/files',
      argument: 'search',
      options: [
        query('--file-type <id>', 'file_type', 'only files of this type'),
        query('--prefix <text>', 'prefix', 'the beginning of the paths'),
        query('--match <all|any>', 'match', 'whether all words must be there (default), or any'),
        { ...snippets, about: 'show what was found' },
        ...paging,
      ],
      columns: ['file_type', 'path', 'version', '_search_score', '_snippets'],
    },
    {
      name: 'get',
      summary: 'Download a file to standard output, or to --output',
      method: 'GET',
      path: ONE,
      transfer: 'download',
      options: [
        { flags: '--output <file>', about: 'write to this file', to: { local: 'output' } },
        query('--version <number>', 'version', 'download this version'),
      ],
    },
    {
      name: 'lines',
      summary: 'Print lines of a text file',
      method: 'GET',
      path: ONE,
      options: [
        { ...query('--lines <range>', 'lines', 'such as 10-20, or 10- to the end'), required: true },
        query('--version <number>', 'version', 'read this version'),
      ],
      show: ({ body }) => print((body as { text: string | null }).text ?? 'The content is binary.\n'),
    },
    {
      name: 'show',
      summary: 'Show the metadata of a file',
      method: 'GET',
      path: ONE,
      query: { meta: '1' },
      options: [query('--version <number>', 'version', 'show this version')],
    },
    {
      name: 'put',
      summary: 'Upload a file, or "-" for standard input',
      method: 'PUT',
      path: ONE,
      transfer: 'upload',
      options: [
        headerText('--content-type <type>', 'content-type', `${contentType} (default: by the suffix)`),
        headerText('--label <text>', 'x-service-label', 'a label of the content version'),
        headerJson('--metadata <json>', 'x-file-metadata', 'the metadata'),
        ifMatch,
        createOnly,
        ...writing,
      ],
    },
    {
      name: 'mv',
      summary: 'Move a file to another path of its type',
      method: 'PATCH',
      path: `${FILES}/:from`,
      argument: 'path',
      options: [ifMatch, ...writing],
    },
    {
      name: 'edit',
      summary: 'Edit the text of a file: apply a unified diff, or replace parts of it',
      method: 'PATCH',
      path: ONE,
      needsBody: true,
      options: [
        { ...textFile('--patch <diff>', 'patch', 'a unified diff'), conflicts: 'edits' },
        json('--edits <json>', 'edits', '[{"find","replace","all"}], of which all is optional'),
        text('--label <text>', 'label', 'a label of the new content version'),
        ifMatch,
        ...writing,
      ],
    },
    {
      name: 'tag',
      summary: 'Change the metadata, the type or the label of a file',
      method: 'PATCH',
      path: ONE,
      needsBody: true,
      options: [
        text('--content-type <type>', 'content_type', contentType),
        text('--label <text>', 'label', 'the label of the current content version'),
        json('--metadata <json>', 'metadata', 'the metadata, which it replaces'),
        ifMatch,
        ...writing,
      ],
    },
    {
      name: 'rm',
      alias: 'delete',
      summary: 'Delete a file',
      method: 'DELETE',
      path: ONE,
      options: [ifMatch, ...writing],
    },
    {
      name: 'history',
      summary: 'List the content versions of a file, newest first',
      method: 'GET',
      path: ONE,
      query: { history: '' },
      options: paging,
      columns: ['version', 'size', 'content_type', 'label', 'created_at', 'created_by', 'content_sha256'],
    },
    {
      name: 'diff',
      summary: 'Compare two content versions of a file',
      method: 'GET',
      path: ONE,
      query: { diff: '' },
      options: [
        { ...query('--from <version>', 'from', 'the earlier version'), required: true },
        { ...query('--to <version>', 'to', 'the later version'), required: true },
      ],
      show: ({ body }) => print((body as { diff: string | null }).diff ?? 'The contents are binary.\n'),
    },
  ],
}
