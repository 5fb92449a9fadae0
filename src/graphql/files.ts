/** GraphQL types, queries and mutations of files. Contents are not in GraphQL: see `content.ts`. */

import { expectation, NO_EXPECTATION } from '../engine/core/write/preconditions.ts'
import type * as files from '../engine/files/index.ts'
import {
  copyFile,
  deleteFile,
  diffFile,
  type FileExpectation,
  fileVersions,
  getFile,
  listFiles,
  listKeys,
  patchFile,
  putFile,
  readLines,
  searchFiles,
  storageOf,
} from '../engine/files/index.ts'
import { LIMITS } from '../foundation/limits.ts'
import { builder } from './builder.ts'
import { Deleted, expectationArgs, Operation, versionArgs } from './common.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'

export const FileRef = builder.objectRef<files.File>('File').implement({
  description: 'A file: a path in a file type, the properties of its content, and metadata.',
  fields: (t) => ({
    path: t.exposeString('path'),
    fileType: t.exposeString('fileType'),
    version: t.exposeInt('version', { description: 'The number of its content version.' }),
    contentSha256: t.exposeString('contentSha256', {
      description: 'SHA-256 of the content, in lowercase hex.',
    }),
    size: t.exposeFloat('size', { description: 'Bytes of the content.' }),
    contentType: t.exposeString('contentType'),
    metadata: t.expose('metadata', { type: 'JSON' }),
    label: t.exposeString('label', { nullable: true, description: 'The label of its content version.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    operation: t.expose('operation', { type: Operation, nullable: true }),
  }),
})

const FileSnippet = builder
  .objectRef<NonNullable<files.FoundFile['snippets']>[number]>('FileSnippet')
  .implement({
    description: 'A part of a file that a search has found.',
    fields: (t) => ({
      field: t.exposeString('field', { description: '`text` or `path`.' }),
      text: t.exposeString('text'),
      matches: t.exposeStringList('matches', { description: 'The words of the text that match.' }),
      truncated: t.exposeBoolean('truncated', { nullable: true, description: 'Whether it is a part.' }),
    }),
  })
const FoundFile = builder.objectRef<files.FoundFile>('FoundFile').implement({
  description: 'A file that a search has found.',
  fields: (t) => ({
    file: t.field({ type: FileRef, resolve: (found) => found }),
    searchScore: t.exposeFloat('searchScore', { description: 'How well it matches. Higher is better.' }),
    snippets: t.expose('snippets', { type: [FileSnippet], nullable: true }),
  }),
})
const SearchMatch = builder.enumType('SearchMatch', {
  description: 'Whether all words of a search must be there, or any.',
  values: ['all', 'any'] as const,
})

const FileEntryKind = builder.enumType('FileEntryKind', { values: ['file', 'folder'] as const })
const FileEntryRef = builder.objectRef<files.FileEntry>('FileEntry').implement({
  description: 'A file, or a folder in place of the files below it.',
  fields: (t) => ({
    kind: t.expose('kind', { type: FileEntryKind }),
    path: t.exposeString('path', { description: 'The path of a folder ends in "/".' }),
    file: t.expose('file', { type: FileRef, nullable: true }),
  }),
})

const FileVersionRef = builder.objectRef<files.FileVersion>('FileVersion').implement({
  description: 'A content version of a file.',
  fields: (t) => ({
    version: t.exposeInt('version'),
    contentSha256: t.exposeString('contentSha256'),
    size: t.exposeFloat('size'),
    contentType: t.exposeString('contentType'),
    label: t.exposeString('label', { nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    createdBy: t.exposeString('createdBy', { description: 'The id of the token that wrote it.' }),
  }),
})

const FileDiffRef = builder.objectRef<files.FileDiff>('FileDiff').implement({
  description: 'The difference of two content versions.',
  fields: (t) => ({
    from: t.expose('from', { type: FileVersionRef }),
    to: t.expose('to', { type: FileVersionRef }),
    binary: t.exposeBoolean('binary', { description: 'Whether one of them is no UTF-8 text.' }),
    diff: t.exposeString('diff', { nullable: true, description: 'A unified diff of texts.' }),
  }),
})

const FileTextRef = builder.objectRef<files.FileText>('FileText').implement({
  description: 'Lines of a text file.',
  fields: (t) => ({
    file: t.expose('file', { type: FileRef }),
    binary: t.exposeBoolean('binary', { description: 'Whether the content is no UTF-8 text.' }),
    text: t.exposeString('text', { nullable: true, description: 'The lines; null for binary contents.' }),
    from: t.exposeInt('from', { description: 'The first line in the text, from 1; 0 for none.' }),
    to: t.exposeInt('to', { description: 'The last line in the text.' }),
    lines: t.exposeInt('lines', {
      nullable: true,
      description: 'The number of lines of the file; null for large files.',
    }),
    hasMore: t.exposeBoolean('hasMore', {
      description: 'Whether the requested lines go on after the text, which was cut to `maxBytes`.',
    }),
  }),
})

const FileKeyRef = builder.objectRef<files.FileKeys['entries'][number]>('FileKey').implement({
  description: 'A file of any type by its key, or a folder in place of the files below it.',
  fields: (t) => ({
    key: t.exposeString('key', { description: '`<file_type>/<path>`. The key of a folder ends in "/".' }),
    file: t.expose('file', { type: FileRef, nullable: true }),
  }),
})
const FileKeysRef = builder.objectRef<files.FileKeys>('FileKeys').implement({
  description: 'Keys of files in the order of their bytes.',
  fields: (t) => ({
    entries: t.field({ type: [FileKeyRef], resolve: ({ entries }) => [...entries] }),
    more: t.exposeBoolean('more', { description: 'Whether there are keys after these.' }),
  }),
})

const place = () =>
  builder.args((t) => ({ base: t.string({ required: true }), fileType: t.string({ required: true }) }))
const fileArgs = () => builder.args((t) => ({ ...place(), path: t.string({ required: true }) }))
const contentArgs = () =>
  builder.args((t) => ({
    expectedHashes: t.stringList({
      description: 'Precondition: write only if the SHA-256 of the content is one of these.',
    }),
  }))

type FileArgs = { base: string; fileType: string; path: string }
const at = ({ base, fileType, path }: FileArgs) => ({ baseId: base, fileType, path })
const expected = (
  args: Parameters<typeof expectation>[0] & { expectedHashes?: readonly string[] | null | undefined },
): FileExpectation => ({ ...expectation(args), contents: args.expectedHashes ?? null })

/** GraphQL sends null for an omitted field. */
const withoutNulls = <T extends { all?: boolean | null | undefined }>({ all, ...edit }: T) => ({
  ...edit,
  ...(all != null && { all }),
})

builder.queryFields((t) => ({
  files: t.field({
    type: pageType('FilePage', FileEntryRef),
    description: 'The files of a type, in the order of their paths.',
    args: {
      ...place(),
      prefix: t.arg.string({ description: 'The beginning of the paths, literally.' }),
      depth: t.arg.int({
        description:
          'Levels below the prefix. Deeper files are listed as folders; by default, all files are.',
      }),
      ...pageArgs(),
    },
    resolve: (_root, { base, fileType, ...args }, { scope }) =>
      listFiles(scope, { baseId: base, fileType }, args),
  }),
  searchFiles: t.field({
    type: pageType('FoundFilePage', FoundFile),
    description:
      'The files of a base whose path or text has the words, best first. A typo or two still find.',
    args: {
      base: t.arg.string({ required: true }),
      search: t.arg.string({ required: true, description: 'The words.' }),
      fileType: t.arg.string({ description: 'Only files of this type.' }),
      prefix: t.arg.string({ description: 'The beginning of the paths, literally.' }),
      match: t.arg({ type: SearchMatch, description: 'Defaults to `all`.' }),
      snippets: t.arg.boolean({ description: 'Whether to return what was found.' }),
      ...pageArgs(),
    },
    resolve: (_root, { base, ...args }, { scope }) => searchFiles(scope, base, args),
  }),
  fileKeys: t.field({
    type: FileKeysRef,
    description: 'The files of all types by their keys, `<file_type>/<path>`.',
    args: {
      base: t.arg.string({ required: true }),
      prefix: t.arg.string({ description: 'The beginning of the keys, literally.' }),
      after: t.arg.string({ description: 'The keys after this one only.' }),
      folders: t.arg.boolean({ description: 'Whether folders stand for what lies deeper than the prefix.' }),
      limit: t.arg.int({ description: 'Keys to return, 0 to 1000. Defaults to 1000.' }),
    },
    resolve: (_root, { base, prefix, after, folders, limit }, { scope }) =>
      listKeys(scope, base, {
        prefix: prefix ?? '',
        after: after ?? '',
        folders: folders ?? false,
        limit: limit ?? LIMITS.pageMax,
      }),
  }),
  fileStorage: t.field({
    type: 'JSON',
    description: 'The storage policy that files of the type are written under. Needs `write` on them.',
    args: place(),
    resolve: (_root, { base, fileType }, { scope }) => storageOf(scope, { baseId: base, fileType }),
  }),
  file: t.field({
    type: FileRef,
    args: {
      ...fileArgs(),
      version: t.arg.int({ description: 'The content version to return; the current one by default.' }),
    },
    resolve: (_root, { version, ...args }, { scope }) => getFile(scope, at(args), version ?? null),
  }),
  fileVersions: t.field({
    type: pageType('FileVersionPage', FileVersionRef),
    description: 'The content versions of a file that are kept, newest first.',
    args: { ...fileArgs(), ...pageArgs() },
    resolve: (_root, { base, fileType, path, ...args }, { scope }) =>
      fileVersions(scope, { baseId: base, fileType, path }, args),
  }),
  fileText: t.field({
    type: FileTextRef,
    description: 'Lines of a text file.',
    args: {
      ...fileArgs(),
      version: t.arg.int({ description: 'The content version to read; the current one by default.' }),
      from: t.arg.int({ description: 'The first line, from 1.' }),
      to: t.arg.int({ description: 'The last line; by default the last of the file.' }),
      maxBytes: t.arg.int({ description: 'Maximum size of the text. At most, and by default, 1 MiB.' }),
    },
    resolve: (_root, { version, from, to, maxBytes, ...args }, { scope }) =>
      readLines(scope, at(args), { version: version ?? null, from, to, maxBytes }),
  }),
  fileDiff: t.field({
    type: FileDiffRef,
    args: { ...fileArgs(), from: t.arg.int({ required: true }), to: t.arg.int({ required: true }) },
    resolve: (_root, { from, to, ...args }, { scope }) => diffFile(scope, at(args), from, to),
  }),
}))

mutation('putFile', {
  description:
    'Creates a file or gives it another content, which is one of `text` and `base64`. Large contents are streamed over REST.',
  type: FileRef,
  args: builder.args((t) => ({
    ...fileArgs(),
    contentSha256: t.string({ description: 'A content that this request has streamed, over REST.' }),
    text: t.string({ description: 'The content as text.' }),
    base64: t.string({ description: 'The content in base64.' }),
    contentType: t.string({ required: true }),
    metadata: t.field({ type: 'JSON', description: 'Replaces the metadata. Defaults to none.' }),
    label: t.string({ description: 'A label of the content version.' }),
    ...contentArgs(),
    ...expectationArgs(),
  })),
  resolve: (scope, { contentSha256: sha256, text, base64, contentType, metadata, label, ...args }) =>
    putFile(
      scope,
      at(args),
      { content: { sha256, text, base64 }, contentType, metadata: metadata ?? {}, label: label ?? null },
      expected(args),
    ),
})

const TextEditInput = builder.inputType('TextEdit', {
  description: 'A replacement in the text of a file.',
  fields: (t) => ({
    find: t.string({
      required: true,
      description: 'The text to replace, as it is in the file. It must be there once.',
    }),
    replace: t.string({ required: true, description: 'What to put in its place.' }),
    all: t.boolean({ description: 'Replace it everywhere.' }),
  }),
})

mutation('patchFile', {
  description: 'Moves a file, changes its properties, or edits its text, which makes a new version.',
  type: FileRef,
  args: builder.args((t) => ({
    ...fileArgs(),
    newPath: t.string({ description: 'The new path. The content and its versions move along.' }),
    metadata: t.field({
      type: 'JSON',
      description: 'A merge patch (RFC 7396) of the metadata: null removes a member.',
    }),
    contentType: t.string(),
    label: t.string({ description: 'The label of the content version; null removes it.' }),
    edits: t.field({ type: [TextEditInput], description: 'Replacements in the text, one after another.' }),
    patch: t.string({ description: 'A unified diff of the text.' }),
    operations: t.field({
      type: 'JSON',
      description:
        'A JSON Patch (RFC 6902) of path, metadata, content_type and label, in place of the other arguments.',
    }),
    ...contentArgs(),
    ...versionArgs(),
  })),
  resolve: (scope, { newPath, metadata, contentType, label, edits, patch, operations, ...args }) =>
    patchFile(
      scope,
      at(args),
      { path: newPath, metadata, contentType, label, edits: edits?.map(withoutNulls), patch, operations },
      expected(args),
    ),
})

mutation('deleteFile', {
  description: 'Deletes a file.',
  type: Deleted,
  args: { ...fileArgs(), ...contentArgs(), ...versionArgs() },
  resolve: (scope, args) => deleteFile(scope, at(args), expected(args)),
})

mutation('copyFile', {
  description: 'Gives a file the content and the properties of another one of the base, without sending it.',
  type: FileRef,
  args: builder.args((t) => ({
    ...fileArgs(),
    sourceFileType: t.string({ required: true }),
    sourcePath: t.string({ required: true }),
    sourceHashes: t.stringList({
      description: 'Precondition: copy only if the SHA-256 of the source is one of these.',
    }),
    contentType: t.string({ description: 'Replaces the content type.' }),
    metadata: t.field({ type: 'JSON', description: 'Replaces the metadata.' }),
    ...contentArgs(),
    ...expectationArgs(),
  })),
  resolve: (scope, { sourceFileType, sourcePath, sourceHashes, contentType, metadata, ...args }) =>
    copyFile(
      scope,
      { baseId: args.base, fileType: sourceFileType, path: sourcePath },
      at(args),
      { contentType: contentType ?? null, metadata: metadata ?? null },
      { source: { ...NO_EXPECTATION, contents: sourceHashes ?? null }, target: expected(args) },
    ),
})
