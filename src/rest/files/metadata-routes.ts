/** Routes of files that have JSON on both sides: list, PATCH, DELETE. */
import { z } from 'zod'
import { FilePatch } from '../../contract/file-shapes.ts'
import { pageBody, trim } from '../../contract/response-bodies.ts'
import { graphql } from '../../graphql/document.ts'
import { listOf } from '../route/page.ts'
import { patchForms } from '../route/patch-forms.ts'
import { pageQuery, whole } from '../route/query.ts'
import { route } from '../route/route.ts'
import { Deleted, onBase } from '../route/shapes.ts'
import { contentTag, File, FileEntry, FileFields, fileParams, targetOf, typeParams } from './shapes.ts'

const ListFiles = graphql(
  `query ListFiles($base: String!, $fileType: String!, $prefix: String, $depth: Int, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
    page: files(base: $base, fileType: $fileType, prefix: $prefix, depth: $depth, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
      data { kind path file { ...FileFields } } hasMore truncated limit offset total nextCursor
    }
  }`,
  [FileFields],
)
const PatchFile = graphql(
  `mutation PatchFile($base: String!, $fileType: String!, $path: String!, $newPath: String, $metadata: JSON, $contentType: String, $label: String,
    $edits: [TextEdit!], $patch: String, $operations: JSON, $expectedHashes: [String!], $mustExist: Boolean) {
    written: patchFile(base: $base, fileType: $fileType, path: $path, newPath: $newPath, metadata: $metadata, contentType: $contentType, label: $label,
      edits: $edits, patch: $patch, operations: $operations, expectedHashes: $expectedHashes, mustExist: $mustExist) {
      ...FileFields operation dry_run: dryRun
    }
  }`,
  [FileFields],
)
const DeleteFile = graphql(
  `mutation DeleteFile($base: String!, $fileType: String!, $path: String!, $expectedHashes: [String!], $mustExist: Boolean) {
    gone: deleteFile(base: $base, fileType: $fileType, path: $path, expectedHashes: $expectedHashes, mustExist: $mustExist) {
      id deleted dry_run: dryRun
    }
  }`,
)

export const metadataRoutes = [
  route('GET /:base_id/files/:file_type', {
    summary: 'List files in the order of their paths',
    need: onBase('read'),
    params: typeParams,
    renamed: { id: 'file_type' },
    query: pageQuery.extend({
      prefix: z.string().optional().meta({ description: 'The beginning of the paths, literally.' }),
      depth: whole(
        1,
        1024,
        undefined,
        'Levels below the prefix. Deeper files are listed as folders; by default, all files are listed.',
      ),
    }),
    operation: ListFiles,
    reply: ({ page }) => ({
      body: pageBody({ ...page, data: page.data.map(({ kind, path, file }) => ({ kind, path, ...file })) }),
    }),
    answers: listOf(FileEntry),
  }),
  route('PATCH /:base_id/files/:file_type/*', {
    summary: 'Move a file, change its properties, or edit its text',
    need: onBase('write'),
    params: fileParams,
    renamed: { id: 'file_type' },
    ...patchForms(
      FilePatch,
      'RFC 6902 operations on `/path`, `/metadata`, `/content_type` and `/label`, such as `/metadata/client`.',
    ),
    versioned: 'content',
    operation: PatchFile,
    variables: ({ params, body, hashes, conditions }) => ({
      ...targetOf(params),
      ...(Array.isArray(body)
        ? { operations: body }
        : {
            newPath: body.path,
            metadata: body.metadata,
            contentType: body.content_type,
            ...('label' in body && { label: body.label }),
            edits: body.edits,
            patch: body.patch,
          }),
      expectedHashes: hashes,
      mustExist: conditions.mustExist,
    }),
    reply: ({ written }) => ({ body: trim(written), etag: contentTag(written) }),
    answers: File,
  }),
  route('DELETE /:base_id/files/:file_type/*', {
    summary: 'Delete a file',
    need: onBase('write'),
    params: fileParams,
    renamed: { id: 'file_type' },
    versioned: 'content',
    operation: DeleteFile,
    variables: ({ params, hashes, conditions }) => ({
      ...targetOf(params),
      expectedHashes: hashes,
      mustExist: conditions.mustExist,
    }),
    answers: Deleted,
  }),
]
