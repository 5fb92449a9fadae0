/** GraphQL operations of the file tools, and their common arguments. */
import { z } from 'zod'
import { graphql } from '../../../graphql/document.ts'
import { staticOperation } from '../../../graphql/execute.ts'

const inType = { file_type: z.string() }
export const one = { ...inType, path: z.string() }
export const expected = { expected_version: z.int32().min(1).optional() }
export const properties = {
  content_type: z.string().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  label: z.string().optional(),
}

/** The file fields that tools return. */
export const ToolFile = graphql(`fragment ToolFile on File {
  path file_type: fileType version content_sha256: contentSha256 size content_type: contentType metadata label
  created_at: createdAt updated_at: updatedAt operation dry_run: dryRun
}`)

export const listTypes = staticOperation(`query ToolFileTypes($base: String!, $limit: Int, $cursor: String) {
  page: fileTypes(base: $base, limit: $limit, cursor: $cursor) {
    data { file_type: id name description storage metadata_schema: metadataSchema } hasMore limit offset total nextCursor cursors
  }
}`)
export const list = staticOperation(
  `query ToolFiles($base: String!, $fileType: String!, $prefix: String, $depth: Int, $limit: Int, $cursor: String) {
    page: files(base: $base, fileType: $fileType, prefix: $prefix, depth: $depth, limit: $limit, cursor: $cursor) {
      data { kind path file { ...ToolFile } } hasMore limit offset total nextCursor cursors
    }
  }`,
  [ToolFile],
)
export const read = staticOperation(
  `query ToolFileText($base: String!, $fileType: String!, $path: String!, $version: Int, $from: Int, $to: Int, $maxBytes: Int) {
    found: fileText(base: $base, fileType: $fileType, path: $path, version: $version, from: $from, to: $to, maxBytes: $maxBytes) {
      file { ...ToolFile } binary text from to lines has_more: hasMore
    }
  }`,
  [ToolFile],
)
export const history =
  staticOperation(`query ToolFileHistory($base: String!, $fileType: String!, $path: String!, $limit: Int) {
    page: fileVersions(base: $base, fileType: $fileType, path: $path, limit: $limit) {
      data { version content_sha256: contentSha256 size content_type: contentType label created_at: createdAt created_by: createdBy }
      hasMore limit offset total nextCursor cursors
    }
  }`)
export const compare =
  staticOperation(`query ToolFileDiff($base: String!, $fileType: String!, $path: String!, $from: Int!, $to: Int!) {
    found: fileDiff(base: $base, fileType: $fileType, path: $path, from: $from, to: $to) {
      from { version size created_at: createdAt } to { version size created_at: createdAt } binary diff
    }
  }`)
export const attach =
  staticOperation(`mutation ToolAttach($base: String!, $recordType: String!, $recordId: String!, $filename: String!, $contentType: String, $content: String, $contentBase64: String) {
    made: createAttachment(base: $base, recordType: $recordType, recordId: $recordId, filename: $filename, contentType: $contentType,
      content: $content, contentBase64: $contentBase64) {
      id filename content_type: contentType size sha256 status created_at: createdAt upload_url: uploadUrl expires_at: expiresAt dry_run: dryRun
    }
  }`)
export const put = staticOperation(
  `mutation ToolPutFile($base: String!, $fileType: String!, $path: String!, $text: String, $base64: String, $contentType: String!, $metadata: JSON,
    $label: String, $expectedVersions: [Int!], $mustBeAbsent: Boolean) {
    written: putFile(base: $base, fileType: $fileType, path: $path, text: $text, base64: $base64, contentType: $contentType, metadata: $metadata,
      label: $label, expectedVersions: $expectedVersions, mustBeAbsent: $mustBeAbsent) { ...ToolFile }
  }`,
  [ToolFile],
)
export const patch = staticOperation(
  `mutation ToolPatchFile($base: String!, $fileType: String!, $path: String!, $newPath: String, $metadata: JSON, $contentType: String,
    $label: String, $edits: [TextEdit!], $patch: String, $expectedVersions: [Int!]) {
    written: patchFile(base: $base, fileType: $fileType, path: $path, newPath: $newPath, metadata: $metadata, contentType: $contentType,
      label: $label, edits: $edits, patch: $patch, expectedVersions: $expectedVersions) { ...ToolFile }
  }`,
  [ToolFile],
)
export const remove =
  staticOperation(`mutation ToolDeleteFile($base: String!, $fileType: String!, $path: String!, $expectedVersions: [Int!]) {
    gone: deleteFile(base: $base, fileType: $fileType, path: $path, expectedVersions: $expectedVersions) { id deleted dry_run: dryRun }
  }`)
