/** GraphQL types, queries and mutations of uploads in parts. */

import { expectation } from '../engine/core/write/preconditions.ts'
import * as uploads from '../engine/files/uploads/index.ts'
import type { PartInput } from '../engine/files/uploads/parts.ts'
import { CHECKSUMS, type ChecksumName } from '../foundation/checksums.ts'
import { invalid } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { builder } from './builder.ts'
import { Deleted, expectationArgs } from './common.ts'
import { FileRef } from './files.ts'
import { mutation } from './mutation.ts'

const UploadRef = builder.objectRef<uploads.Upload>('FileUpload').implement({
  description: 'A file that arrives in parts. It shows when the upload is completed.',
  fields: (t) => ({
    id: t.exposeString('id'),
    fileType: t.exposeString('fileType'),
    path: t.exposeString('path'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})
const PartRef = builder.objectRef<uploads.UploadPart>('FileUploadPart').implement({
  description: 'A part of an upload.',
  fields: (t) => ({
    number: t.exposeInt('number'),
    contentSha256: t.exposeString('contentSha256'),
    size: t.exposeFloat('size'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

type Found<T> = { data: T[]; more: boolean }
const foundType = <T>(name: string, item: { $inferType: T }) =>
  builder.objectRef<Found<T>>(name).implement({
    fields: (t) => ({
      data: t.field({ type: [item] as never, resolve: ({ data }) => data as never }),
      more: t.exposeBoolean('more', { description: 'Whether there are more after these.' }),
    }),
  })
const UploadsRef = foundType('FileUploads', UploadRef)
const PartsRef = foundType('FileUploadParts', PartRef)
const NamedPart = builder.inputType('FileUploadPartName', {
  fields: (t) => ({
    number: t.int({ required: true }),
    sha256: t.string({ required: true, description: 'The digest of the part.' }),
  }),
})
const ChecksumAlgorithm = builder.enumType('ChecksumAlgorithm', {
  values: Object.keys(CHECKSUMS) as ChecksumName[],
})
const DeclaredChecksum = builder.inputType('FileChecksum', {
  description: 'A checksum of a content in parts. Another one is refused.',
  fields: (t) => ({
    algorithm: t.field({ type: ChecksumAlgorithm, required: true }),
    value: t.string({ required: true, description: 'In base64.' }),
    ofParts: t.boolean({ required: true, description: 'Whether it is of the checksums of the parts.' }),
  }),
})

const file = () =>
  builder.args((t) => ({
    base: t.string({ required: true }),
    fileType: t.string({ required: true }),
    path: t.string({ required: true }),
  }))
const uploadArgs = () => builder.args((t) => ({ ...file(), id: t.string({ required: true }) }))
const limit = () => builder.args((t) => ({ limit: t.int({ description: '1 to 1000. Defaults to 1000.' }) }))

type UploadArgs = { base: string; fileType: string; path: string; id: string }
const at = ({ base, fileType, path, id }: UploadArgs) => ({ baseId: base, fileType, path, id })

builder.queryFields((t) => ({
  fileUploads: t.field({
    type: UploadsRef,
    description: 'The uploads in progress, by the keys `<file_type>/<path>` of their files.',
    args: {
      base: t.arg.string({ required: true }),
      prefix: t.arg.string({ description: 'The beginning of the keys, literally.' }),
      afterKey: t.arg.string(),
      afterId: t.arg.string(),
      ...limit(),
    },
    resolve: (_root, { base, prefix, afterKey, afterId, limit }, { scope }) => {
      const after = { key: afterKey ?? '', id: afterId ?? '' }
      return uploads.listUploads(scope, base, prefix ?? '', after, limit ?? LIMITS.pageMax)
    },
  }),
  fileUploadParts: t.field({
    type: PartsRef,
    description: 'The parts of an upload that have arrived, by their numbers.',
    args: { ...uploadArgs(), after: t.arg.int({ description: 'The parts after this number.' }), ...limit() },
    resolve: (_root, { after, limit, ...args }, { scope }) =>
      uploads.listUploadParts(scope, at(args), after ?? 0, limit ?? LIMITS.pageMax),
  }),
}))

mutation('startFileUpload', {
  description: 'Starts the upload of a file in parts.',
  type: UploadRef,
  args: builder.args((t) => ({
    ...file(),
    contentType: t.string({ required: true }),
    metadata: t.field({ type: 'JSON' }),
  })),
  resolve: (scope, { base, fileType, path, contentType, metadata }) =>
    uploads.startUpload(scope, { baseId: base, fileType, path }, { contentType, metadata: metadata ?? {} }),
})

mutation('putFileUploadPart', {
  description:
    'Stores a part of an upload: a content that this request has streamed, or bytes of a file of the base.',
  type: PartRef,
  args: builder.args((t) => ({
    ...uploadArgs(),
    number: t.int({ required: true, description: '1 to 10000.' }),
    contentSha256: t.string({ description: 'A content that this request has streamed.' }),
    sourceFileType: t.string(),
    sourcePath: t.string(),
    sourceStart: t.float({ description: 'The first byte of the source; all of it by default.' }),
    sourceEnd: t.float({ description: 'The last byte of the source.' }),
  })),
  resolve: (
    scope,
    { number, contentSha256, sourceFileType, sourcePath, sourceStart, sourceEnd, ...args },
  ) => {
    const range = sourceStart != null && sourceEnd != null ? readRange(sourceStart, sourceEnd) : null
    const source: PartInput =
      sourceFileType != null && sourcePath != null
        ? { fileType: sourceFileType, path: sourcePath, range }
        : { sha256: contentSha256 ?? '' }
    return uploads.putUploadPart(scope, at(args), number, source)
  },
})

function readRange(start: number, end: number): { start: number; end: number } {
  if (Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && start <= end)
    return { start, end }
  const message = 'A range has a first and a last byte.'
  throw invalid({ path: '/source_range', code: 'out_of_range', message })
}

mutation('completeFileUpload', {
  description: 'Joins the parts of an upload to the content of its file, and ends it.',
  type: FileRef,
  args: builder.args((t) => ({
    ...uploadArgs(),
    parts: t.field({ type: [NamedPart], required: true }),
    size: t.float({ description: 'The bytes of all parts, which is checked.' }),
    checksum: t.field({ type: DeclaredChecksum }),
    expectedHashes: t.stringList({
      description: 'Precondition: write only if the SHA-256 of the content is one of these.',
    }),
    ...expectationArgs(),
  })),
  resolve: (scope, { parts, size, checksum, expectedHashes, ...args }) => {
    const declared = { size: size ?? null, checksum: checksum ?? null }
    const expected = { ...expectation(args), contents: expectedHashes ?? null }
    return uploads.completeUpload(scope, at(args), parts, declared, expected)
  },
})

mutation('abortFileUpload', {
  description: 'Ends an upload without a file.',
  type: Deleted,
  args: uploadArgs(),
  resolve: (scope, args) => uploads.abortUpload(scope, at(args)),
})
