/** Operations on one object. */
import { CONTENT_TYPE, UNKNOWN_CONTENT } from '../../contract/attachment-rules.ts'
import { DomainError } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { openContent, storeContent } from '../../graphql/content.ts'
import { sendContent } from '../../http/send-content.ts'
import { fileOf } from '../protocol/address.ts'
import { S3Fault } from '../protocol/fault.ts'
import { metadataHeaders, readMetadata } from '../protocol/metadata.ts'
import { etagOf, isCurrent, OF_READ, OF_SOURCE, writeConditions } from './conditions.ts'
import {
  copyFile,
  deleteFile,
  findFile,
  findStorage,
  hasFiles,
  isFolder,
  markerOf,
  putFile,
  putFolder,
} from './files.ts'
import type { Call, Operation, Result } from './operation.ts'

/**
 * The file that a request is for.
 * @throws S3Fault for a key that no file can have
 */
export function targetOf({ bucket, key }: Pick<Call, 'bucket' | 'key'>) {
  const file = fileOf(key)
  if (file) return { base: bucket, ...file }
  throw new S3Fault(
    'InvalidArgument',
    'A key must be "<file_type>/<path>": a file type of the base, and a path in it.',
  )
}

async function getObject(call: Call): Promise<Result> {
  const { request, reply, context } = call
  if (isFolder(call.key)) return getFolder(call)
  if (!fileOf(call.key)) throw noSuchKey()
  const { 'content-type': type, 'content-disposition': disposition, ...asked } = askedHeaders(call)
  const { file } = await findFile(targetOf(call), context)
  const { contentSha256: sha256, size, contentType, path, updatedAt, metadata } = file
  reply.headers({
    ...asked,
    'last-modified': new Date(String(updatedAt)).toUTCString(),
    'x-amz-request-id': request.id,
    ...metadataHeaders(metadata as Record<string, unknown>),
  })
  if (isCurrent(call, file, OF_READ)) return { status: 304, headers: { etag: etagOf(sha256) } }
  if (call.header('x-amz-checksum-mode')?.toUpperCase() === 'ENABLED' && request.headers.range === undefined)
    reply.headers({
      'x-amz-checksum-sha256': Buffer.from(sha256, 'hex').toString('base64'),
      'x-amz-checksum-type': 'FULL_OBJECT',
    })
  const filename = path.slice(path.lastIndexOf('/') + 1)
  const content = { sha256, size, contentType: type ?? contentType, filename, disposition }
  return { sent: await sendContent(request, reply, content, (range) => openContent(context, content, range)) }
}

/** Headers that a parameter can set in the response to a signed request. */
const RESPONSE = 'response-'
const RESPONSE_PARAMETERS = [
  ...[
    'content-type',
    'content-disposition',
    'content-encoding',
    'content-language',
    'cache-control',
    'expires',
  ],
].map((name) => RESPONSE + name)

/** @throws S3Fault for a value that a header cannot have */
function askedHeaders(call: Call): Record<string, string> {
  const asked = RESPONSE_PARAMETERS.flatMap((name): [string, string][] => {
    const value = call.query(name)
    if (value === undefined) return []
    const isSound =
      name === 'response-content-type' ? CONTENT_TYPE.test(value) : /^[\x20-\x7e\xa0-\xff]+$/.test(value)
    if (isSound && value.length <= LIMITS.s3HeaderChars) return [[name.slice(RESPONSE.length), value]]
    throw new S3Fault(
      'InvalidArgument',
      `"${name}" must be a value of that header, of at most ${LIMITS.s3HeaderChars} characters of Latin-1. Encode others as RFC 8187 says: filename*=UTF-8''….`,
    )
  })
  return Object.fromEntries(asked)
}

/** Clients ask for a folder as an empty object. */
async function getFolder(call: Call): Promise<Result> {
  if (!(await hasFiles(call, call.key))) throw noSuchKey()
  return { headers: { 'content-type': 'application/x-directory', 'content-length': '0' } }
}

const noSuchKey = () => new S3Fault('NoSuchKey', 'There is no such object.')

/** Streams the body of a request into the store of contents. */
export async function storeBody(call: Call, maxBytes: number) {
  const body = await call.body()
  if (body.size > maxBytes)
    throw new S3Fault('EntityTooLarge', `A content can have at most ${maxBytes} bytes here.`)
  const stored = await storeContent(call.context, body.stream(), { maxBytes })
  return { ...stored, checksums: body.checksums.headers() }
}

/** The largest content that the file type takes. */
export async function maxBytesOf(
  { context }: Call,
  { base, fileType }: { base: string; fileType: string },
): Promise<number> {
  const { storage } = await findStorage({ base, fileType }, context)
  return (storage as { max_bytes: number }).max_bytes
}

async function putObject(call: Call): Promise<Result> {
  const { context } = call
  if (isFolder(call.key)) return { headers: { etag: await putFolder(call) } }
  const target = targetOf(call)
  const conditions = writeConditions(call)
  const { sha256, checksums } = await storeBody(call, await maxBytesOf(call, target))
  const variables = {
    ...target,
    contentSha256: sha256,
    contentType: call.header('content-type') ?? UNKNOWN_CONTENT,
    metadata: readMetadata(call.headers),
    ...conditions,
  }
  const { written } = await putFile(variables, context)
  return { headers: { etag: etagOf(written.contentSha256), ...checksums } }
}

/** The key of `x-amz-copy-source`. */
function sourceKeyOf(call: Call): string {
  const [path = '', query] = (call.header('x-amz-copy-source') ?? '').split('?')
  if (query !== undefined)
    throw new S3Fault('NotImplemented', 'Versions cannot be copied. Leave versionId out of the source.')
  const [, bucket, key = ''] = /^\/?([^/]+)\/(.+)$/s.exec(decoded(path)) ?? []
  if (bucket !== call.bucket)
    throw new S3Fault(
      'AccessDenied',
      `The credential is for the bucket "${call.bucket}". Copy from a key of it.`,
    )
  return key
}

/** The source of a copy: the file of `x-amz-copy-source`, if its conditions hold. */
export async function sourceOf(call: Call) {
  const source = targetOf({ bucket: call.bucket, key: sourceKeyOf(call) })
  const { file } = await findFile(source, call.context)
  if (isCurrent(call, file, OF_SOURCE))
    throw new S3Fault('PreconditionFailed', 'The source does not meet the conditions of the request.')
  return { fileType: source.fileType, path: source.path, file }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new S3Fault('InvalidArgument', 'x-amz-copy-source must be percent-encoded UTF-8.')
  }
}

/** Clients copy a folder onto itself to give it other metadata, and to another place before the files in it. */
async function copyFolder(call: Call): Promise<Result> {
  const source = sourceKeyOf(call)
  if (!isFolder(source) || !(await hasFiles(call, source))) throw noSuchKey()
  return copied(new Date().toISOString(), await putFolder(call))
}

const copied = (changedAt: unknown, etag: string): Result => ({
  xml: [
    'CopyObjectResult',
    [
      ['LastModified', String(changedAt)],
      ['ETag', etag],
    ],
  ],
})

async function copyObject(call: Call): Promise<Result> {
  if (isFolder(call.key)) return copyFolder(call)
  const target = targetOf(call)
  const directive = (call.header('x-amz-metadata-directive') ?? 'COPY').toUpperCase()
  if (directive !== 'COPY' && directive !== 'REPLACE')
    throw new S3Fault('InvalidArgument', 'x-amz-metadata-directive must be COPY or REPLACE.')
  const source = await sourceOf(call)
  const isReplaced = directive === 'REPLACE'
  const variables = {
    ...target,
    sourceFileType: source.fileType,
    sourcePath: source.path,
    sourceHashes: [source.file.contentSha256],
    contentType: isReplaced ? (call.header('content-type') ?? UNKNOWN_CONTENT) : null,
    metadata: isReplaced ? readMetadata(call.headers) : null,
    ...writeConditions(call),
  }
  const { written } = await copyFile(variables, call.context)
  return copied(written.updatedAt, etagOf(written.contentSha256))
}

const ABSENT: ReadonlySet<string> = new Set(['file_not_found', 'file_type_not_found'])

/** Deleting what is not there succeeds, as in S3. */
export async function removeFile(
  target: { base: string; fileType: string; path: string },
  { context }: Call,
  conditions: { expectedHashes?: string[] | null; mustExist?: boolean } = {},
): Promise<void> {
  await deleteFile({ ...target, ...conditions }, context).catch((thrown: unknown) => {
    const isAbsent = thrown instanceof DomainError && ABSENT.has(thrown.details[0]?.code ?? '')
    if (!isAbsent) throw thrown
  })
}

async function deleteObject(call: Call): Promise<Result> {
  const { expectedHashes, mustExist } = writeConditions(call)
  const target = isFolder(call.key) ? markerOf(call) : targetOf(call)
  if (target) await removeFile(target, call, { expectedHashes, mustExist })
  return { status: 204 }
}

export const objects: readonly Operation[] = [
  { name: 'CopyObject', method: 'PUT', on: 'object', header: 'x-amz-copy-source', run: copyObject },
  { name: 'PutObject', method: 'PUT', on: 'object', run: putObject },
  { name: 'GetObject', method: 'GET', on: 'object', takes: RESPONSE_PARAMETERS, run: getObject },
  { name: 'HeadObject', method: 'HEAD', on: 'object', takes: RESPONSE_PARAMETERS, run: getObject },
  { name: 'DeleteObject', method: 'DELETE', on: 'object', run: deleteObject },
]
