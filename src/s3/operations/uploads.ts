/** Multipart uploads. */
import { UNKNOWN_CONTENT } from '../../contract/attachment-rules.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { graphql } from '../../graphql/document.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { readDeclaredChecksum } from '../protocol/checksums.ts'
import { S3Fault } from '../protocol/fault.ts'
import { readMetadata } from '../protocol/metadata.ts'
import { type Element, readList } from '../protocol/xml.ts'
import { listArguments, readCount } from './buckets.ts'
import { digestIn, etagOf, writeConditions } from './conditions.ts'
import { StoredFile } from './files.ts'
import { maxBytesOf, sourceOf, storeBody, targetOf } from './objects.ts'
import type { Call, Operation, Result } from './operation.ts'

const Part = graphql(`fragment StoredPart on FileUploadPart { number contentSha256 size createdAt }`)

const start =
  staticOperation(`mutation S3StartUpload($base: String!, $fileType: String!, $path: String!, $contentType: String!, $metadata: JSON) {
    upload: startFileUpload(base: $base, fileType: $fileType, path: $path, contentType: $contentType, metadata: $metadata) { id }
  }`)
const putPart = staticOperation(
  `mutation S3PutPart($base: String!, $fileType: String!, $path: String!, $id: String!, $number: Int!, $contentSha256: String,
    $sourceFileType: String, $sourcePath: String, $sourceStart: Float, $sourceEnd: Float) {
    part: putFileUploadPart(base: $base, fileType: $fileType, path: $path, id: $id, number: $number, contentSha256: $contentSha256,
      sourceFileType: $sourceFileType, sourcePath: $sourcePath, sourceStart: $sourceStart, sourceEnd: $sourceEnd) { ...StoredPart }
  }`,
  [Part],
)
const complete = staticOperation(
  `mutation S3CompleteUpload($base: String!, $fileType: String!, $path: String!, $id: String!, $parts: [FileUploadPartName!]!,
    $size: Float, $checksum: FileChecksum, $expectedHashes: [String!], $mustExist: Boolean, $mustBeAbsent: Boolean) {
    written: completeFileUpload(base: $base, fileType: $fileType, path: $path, id: $id, parts: $parts,
      size: $size, checksum: $checksum, expectedHashes: $expectedHashes, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent) { ...StoredFile }
  }`,
  [StoredFile],
)
const abort =
  staticOperation(`mutation S3AbortUpload($base: String!, $fileType: String!, $path: String!, $id: String!) {
    gone: abortFileUpload(base: $base, fileType: $fileType, path: $path, id: $id) { deleted }
  }`)
const listOpen =
  staticOperation(`query S3Uploads($base: String!, $prefix: String, $afterKey: String, $afterId: String, $limit: Int) {
    uploads: fileUploads(base: $base, prefix: $prefix, afterKey: $afterKey, afterId: $afterId, limit: $limit) {
      more data { id fileType path createdAt }
    }
  }`)
const listArrived = staticOperation(
  `query S3Parts($base: String!, $fileType: String!, $path: String!, $id: String!, $after: Int, $limit: Int) {
    parts: fileUploadParts(base: $base, fileType: $fileType, path: $path, id: $id, after: $after, limit: $limit) {
      more data { ...StoredPart }
    }
  }`,
  [Part],
)

const uploadOf = (call: Call) => ({ ...targetOf(call), id: call.query('uploadId') ?? '' })

async function createUpload(call: Call): Promise<Result> {
  const { upload } = await start(
    {
      ...targetOf(call),
      contentType: call.header('content-type') ?? UNKNOWN_CONTENT,
      metadata: readMetadata(call.headers),
    },
    call.context,
  )
  return {
    xml: [
      'InitiateMultipartUploadResult',
      [
        ['Bucket', call.bucket],
        ['Key', call.key],
        ['UploadId', upload.id],
      ],
    ],
  }
}

function partNumber(call: Call): number {
  const text = call.query('partNumber') ?? ''
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= LIMITS.uploadParts) return Number(text)
  throw new S3Fault('InvalidArgument', `partNumber must be a whole number from 1 to ${LIMITS.uploadParts}.`)
}

async function uploadPart(call: Call): Promise<Result> {
  const target = uploadOf(call)
  const number = partNumber(call)
  // An upload that is not there is refused before its part is read.
  await listArrived({ ...target, limit: 1 }, call.context)
  const most = Math.min(LIMITS.uploadPartBytes, await maxBytesOf(call, target))
  const { sha256, checksums } = await storeBody(call, most)
  const { part } = await putPart({ ...target, number, contentSha256: sha256 }, call.context)
  return { headers: { etag: etagOf(part.contentSha256), ...checksums } }
}

async function uploadPartCopy(call: Call): Promise<Result> {
  const target = uploadOf(call)
  const number = partNumber(call)
  const { fileType, path } = await sourceOf(call)
  const range = call.header('x-amz-copy-source-range')
  const [, from, to] = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(range ?? '') ?? []
  if (range !== undefined && (from === undefined || to === undefined))
    throw new S3Fault('InvalidArgument', 'x-amz-copy-source-range must be bytes=<first>-<last>.')
  const variables = {
    ...target,
    number,
    sourceFileType: fileType,
    sourcePath: path,
    sourceStart: from === undefined ? null : Number(from),
    sourceEnd: to === undefined ? null : Number(to),
  }
  const { part } = await putPart(variables, call.context)
  return {
    xml: [
      'CopyPartResult',
      [
        ['LastModified', String(part.createdAt)],
        ['ETag', etagOf(part.contentSha256)],
      ],
    ],
  }
}

function declaredSize(call: Call): number | null {
  const text = call.header('x-amz-mp-object-size')
  if (text === undefined) return null
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new S3Fault('InvalidArgument', 'x-amz-mp-object-size must be a number of bytes.')
}

async function completeUpload(call: Call): Promise<Result> {
  const target = uploadOf(call)
  const { bytes } = await call.body()
  const { items } = await readList(bytes, 'CompleteMultipartUpload', 'Part', LIMITS.uploadParts)
  const parts = items.map((item) => ({
    number: Number(/^\s*\d{1,5}\s*$/.exec(item.get('PartNumber') ?? '')?.[0] ?? 0),
    sha256: digestIn(item.get('ETag') ?? ''),
  }))
  if (parts.length === 0) throw new S3Fault('MalformedXML', 'Name at least one part.')
  const declared = { size: declaredSize(call), checksum: readDeclaredChecksum(call.headers) }
  const { written } = await complete(
    { ...target, parts, ...declared, ...writeConditions(call) },
    call.context,
  )
  return {
    xml: [
      'CompleteMultipartUploadResult',
      [
        ['Bucket', call.bucket],
        ['Key', call.key],
        ['ETag', etagOf(written.contentSha256)],
      ],
    ],
  }
}

async function abortUpload(call: Call): Promise<Result> {
  await abort(uploadOf(call), call.context)
  return { status: 204 }
}

async function listParts(call: Call): Promise<Result> {
  const limit = Math.max(1, readCount(call.query('max-parts'), 'max-parts'))
  const after = Number(/^\d{1,5}$/.exec(call.query('part-number-marker') ?? '')?.[0] ?? 0)
  const { parts } = await listArrived({ ...uploadOf(call), after, limit }, call.context)
  const last = parts.data.at(-1)
  return {
    xml: [
      'ListPartsResult',
      [
        ['Bucket', call.bucket],
        ['Key', call.key],
        ['UploadId', call.query('uploadId')],
        ['PartNumberMarker', after],
        ['NextPartNumberMarker', parts.more ? last?.number : undefined],
        ['MaxParts', limit],
        ['IsTruncated', parts.more],
        ...parts.data.map(
          (part): Element => [
            'Part',
            [
              ['PartNumber', part.number],
              ['LastModified', String(part.createdAt)],
              ['ETag', etagOf(part.contentSha256)],
              ['Size', part.size],
            ],
          ],
        ),
      ],
    ],
  }
}

async function listUploads(call: Call): Promise<Result> {
  const { limit: asked, encode, encoding, prefix } = listArguments(call, 'max-uploads')
  const limit = Math.max(1, asked)
  const [afterKey, afterId] = [call.query('key-marker') ?? '', call.query('upload-id-marker') ?? '']
  const position = { afterKey, afterId: afterId === '' ? '\u{10ffff}' : afterId }
  const { uploads } = await listOpen({ base: call.bucket, prefix, limit, ...position }, call.context)
  const keyed = uploads.data.map((upload) => ({ ...upload, key: `${upload.fileType}/${upload.path}` }))
  const last = uploads.more ? keyed.at(-1) : undefined
  return {
    xml: [
      'ListMultipartUploadsResult',
      [
        ['Bucket', call.bucket],
        ['Prefix', encode(prefix)],
        ['KeyMarker', encode(afterKey)],
        ['UploadIdMarker', afterId],
        ['EncodingType', encoding],
        ['NextKeyMarker', last && encode(last.key)],
        ['NextUploadIdMarker', last?.id],
        ['MaxUploads', limit],
        ['IsTruncated', uploads.more],
        ...keyed.map(
          ({ key, id, createdAt }): Element => [
            'Upload',
            [
              ['Key', encode(key)],
              ['UploadId', id],
              ['StorageClass', 'STANDARD'],
              ['Initiated', String(createdAt)],
            ],
          ],
        ),
      ],
    ],
  }
}

const ONE = ['uploadId']

export const uploads: readonly Operation[] = [
  {
    name: 'ListMultipartUploads',
    method: 'GET',
    on: 'bucket',
    with: ['uploads'],
    takes: ['prefix', 'encoding-type', 'key-marker', 'upload-id-marker', 'max-uploads'],
    run: listUploads,
  },
  { name: 'CreateMultipartUpload', method: 'POST', on: 'object', with: ['uploads'], run: createUpload },
  {
    name: 'UploadPartCopy',
    method: 'PUT',
    on: 'object',
    with: [...ONE, 'partNumber'],
    header: 'x-amz-copy-source',
    run: uploadPartCopy,
  },
  { name: 'UploadPart', method: 'PUT', on: 'object', with: [...ONE, 'partNumber'], run: uploadPart },
  {
    name: 'CompleteMultipartUpload',
    method: 'POST',
    on: 'object',
    with: ONE,
    checksums: 'object',
    run: completeUpload,
  },
  { name: 'AbortMultipartUpload', method: 'DELETE', on: 'object', with: ONE, run: abortUpload },
  {
    name: 'ListParts',
    method: 'GET',
    on: 'object',
    with: ONE,
    takes: ['max-parts', 'part-number-marker', 'encoding-type'],
    run: listParts,
  },
]
