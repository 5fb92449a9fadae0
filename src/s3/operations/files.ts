/** The GraphQL operations of the gateway. */
import { graphql } from '../../graphql/document.ts'
import { compile } from '../../graphql/execute.ts'

export const StoredFile = graphql(`fragment StoredFile on File {
  path fileType contentSha256 size contentType metadata updatedAt
}`)

export const findFile = compile(
  graphql(
    `query S3File($base: String!, $fileType: String!, $path: String!) {
      file(base: $base, fileType: $fileType, path: $path) { ...StoredFile }
    }`,
    [StoredFile],
  ),
)
export const findKeys = compile(
  graphql(
    `query S3Keys($base: String!, $prefix: String, $after: String, $folders: Boolean, $limit: Int) {
      keys: fileKeys(base: $base, prefix: $prefix, after: $after, folders: $folders, limit: $limit) {
        more entries { key file { ...StoredFile } }
      }
    }`,
    [StoredFile],
  ),
)
export const findStorage = compile(
  graphql(
    `query S3Storage($base: String!, $fileType: String!) { storage: fileStorage(base: $base, fileType: $fileType) }`,
  ),
)
export const putFile = compile(
  graphql(
    `mutation S3PutFile($base: String!, $fileType: String!, $path: String!, $contentSha256: String!, $contentType: String!, $metadata: JSON,
      $expectedHashes: [String!], $mustExist: Boolean, $mustBeAbsent: Boolean) {
      written: putFile(base: $base, fileType: $fileType, path: $path, contentSha256: $contentSha256, contentType: $contentType, metadata: $metadata,
        expectedHashes: $expectedHashes, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent) { ...StoredFile }
    }`,
    [StoredFile],
  ),
)
export const copyFile = compile(
  graphql(
    `mutation S3CopyFile($base: String!, $fileType: String!, $path: String!, $sourceFileType: String!, $sourcePath: String!, $sourceHashes: [String!],
      $contentType: String, $metadata: JSON, $expectedHashes: [String!], $mustExist: Boolean, $mustBeAbsent: Boolean) {
      written: copyFile(base: $base, fileType: $fileType, path: $path, sourceFileType: $sourceFileType, sourcePath: $sourcePath, sourceHashes: $sourceHashes,
        contentType: $contentType, metadata: $metadata, expectedHashes: $expectedHashes, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent) { ...StoredFile }
    }`,
    [StoredFile],
  ),
)
export const deleteFile = compile(
  graphql(
    `mutation S3DeleteFile($base: String!, $fileType: String!, $path: String!, $expectedHashes: [String!], $mustExist: Boolean) {
      gone: deleteFile(base: $base, fileType: $fileType, path: $path, expectedHashes: $expectedHashes, mustExist: $mustExist) { deleted }
    }`,
  ),
)
