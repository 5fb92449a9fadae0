/** The GraphQL operations of the gateway. */

import { UNKNOWN_CONTENT } from '../../contract/attachment-rules.ts'
import { storeContent } from '../../graphql/content.ts'
import { graphql } from '../../graphql/document.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { fileOf } from '../protocol/address.ts'
import { S3Fault } from '../protocol/fault.ts'
import { etagOf, writeConditions } from './conditions.ts'
import type { Call } from './operation.ts'

export const StoredFile = graphql(`fragment StoredFile on File {
  path fileType contentSha256 size contentType metadata updatedAt
}`)

export const findFile = staticOperation(
  `query S3File($base: String!, $fileType: String!, $path: String!) {
    file(base: $base, fileType: $fileType, path: $path) { ...StoredFile }
  }`,
  [StoredFile],
)
export const findKeys = staticOperation(
  `query S3Keys($base: String!, $prefix: String, $after: String, $folders: Boolean, $limit: Int) {
    keys: fileKeys(base: $base, prefix: $prefix, after: $after, folders: $folders, limit: $limit) {
      more entries { key file { ...StoredFile } }
    }
  }`,
  [StoredFile],
)
export const findStorage = staticOperation(
  `query S3Storage($base: String!, $fileType: String!) { storage: fileStorage(base: $base, fileType: $fileType) }`,
)
export const putFile = staticOperation(
  `mutation S3PutFile($base: String!, $fileType: String!, $path: String!, $contentSha256: String!, $contentType: String!, $metadata: JSON,
    $expectedHashes: [String!], $mustExist: Boolean, $mustBeAbsent: Boolean) {
    written: putFile(base: $base, fileType: $fileType, path: $path, contentSha256: $contentSha256, contentType: $contentType, metadata: $metadata,
      expectedHashes: $expectedHashes, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent) { ...StoredFile }
  }`,
  [StoredFile],
)
export const copyFile = staticOperation(
  `mutation S3CopyFile($base: String!, $fileType: String!, $path: String!, $sourceFileType: String!, $sourcePath: String!, $sourceHashes: [String!],
    $contentType: String, $metadata: JSON, $expectedHashes: [String!], $mustExist: Boolean, $mustBeAbsent: Boolean) {
    written: copyFile(base: $base, fileType: $fileType, path: $path, sourceFileType: $sourceFileType, sourcePath: $sourcePath, sourceHashes: $sourceHashes,
      contentType: $contentType, metadata: $metadata, expectedHashes: $expectedHashes, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent) { ...StoredFile }
  }`,
  [StoredFile],
)
export const deleteFile =
  staticOperation(`mutation S3DeleteFile($base: String!, $fileType: String!, $path: String!, $expectedHashes: [String!], $mustExist: Boolean) {
    gone: deleteFile(base: $base, fileType: $fileType, path: $path, expectedHashes: $expectedHashes, mustExist: $mustExist) { deleted }
  }`)

// Folders. One is there as long as files are in it; an empty one has an empty file, which does not show in it.

/** The name of the file in an empty folder. */
const MARKER = '.folder'

export const isFolder = (key: string): boolean => key.endsWith('/')

/**
 * The file that keeps an empty folder; undefined for a file type, which needs none.
 * @throws S3Fault for a key that no folder can have
 */
export function markerOf({ bucket, key }: Pick<Call, 'bucket' | 'key'>) {
  const file = fileOf(key + MARKER)
  if (!file) throw new S3Fault('InvalidArgument', 'A folder must be "<file_type>/<path>/".')
  return file.path === MARKER ? undefined : { base: bucket, ...file }
}

/** Whether a file keeps the folder whose content is listed. It does not show there. */
export const keepsFolder = (folder: string, key: string, { size }: { size: number }): boolean =>
  size === 0 && key === folder + MARKER && fileOf(folder) !== undefined

/** Whether files are in a folder. */
export async function hasFiles({ bucket, context }: Call, key: string): Promise<boolean> {
  const { keys } = await findKeys({ base: bucket, prefix: key, limit: 1 }, context)
  return keys.entries.length > 0
}

/**
 * Creates a folder, unless files are in it. Its metadata are not kept.
 * @throws S3Fault for a body with content
 */
export async function putFolder(call: Call): Promise<string> {
  const { bucket, key, context } = call
  const marker = markerOf(call)
  const conditions = writeConditions(call)
  await findStorage({ base: bucket, fileType: key.slice(0, key.indexOf('/')) }, context)
  const body = await call.body()
  if (body.size > 0)
    throw new S3Fault('InvalidArgument', 'A key that ends in "/" is a folder. Send it without a content.')
  const { sha256 } = await storeContent(context, body.stream(), { maxBytes: 0 })
  const isThere = !marker || (await hasFiles(call, key))
  if (isThere && conditions.mustBeAbsent)
    throw new S3Fault('PreconditionFailed', 'There are files in the folder.')
  if (marker && !isThere)
    await putFile({ ...marker, contentSha256: sha256, contentType: UNKNOWN_CONTENT, metadata: {} }, context)
  return etagOf(sha256)
}
