/** Operations on the bucket, which is the base, and on the list of buckets. */

import { DomainError } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { encodeKey, fileOf } from '../protocol/address.ts'
import { faultOf, S3Fault } from '../protocol/fault.ts'
import { type Element, readList } from '../protocol/xml.ts'
import { etagOf, readMatch } from './conditions.ts'
import { findKeys, isFolder, keepsFolder, markerOf } from './files.ts'
import { removeFile } from './objects.ts'
import type { Call, Operation, Result } from './operation.ts'

const SINCE = '1970-01-01T00:00:00.000Z'

const listBuckets = async ({ bucket }: Call): Promise<Result> => ({
  xml: [
    'ListAllMyBucketsResult',
    [
      ['Owner', [['ID', bucket]]],
      [
        'Buckets',
        [
          [
            'Bucket',
            [
              ['Name', bucket],
              ['CreationDate', SINCE],
            ],
          ],
        ],
      ],
    ],
  ],
})

/** The arguments that lists of objects and of uploads share. */
export function listArguments(call: Call, numbers: 'max-keys' | 'max-uploads') {
  const limit = readCount(call.query(numbers), numbers)
  const delimiter = call.query('delimiter') ?? ''
  if (delimiter !== '' && delimiter !== '/')
    throw new S3Fault('NotImplemented', 'delimiter must be "/". Send it so, or leave it out.')
  const encoding = call.query('encoding-type')
  if (encoding !== undefined && encoding !== 'url')
    throw new S3Fault('InvalidArgument', 'encoding-type must be url. Send it so, or leave it out.')
  const encode = encoding === 'url' ? encodeKey : (text: string) => text
  return { limit, delimiter, encode, encoding, prefix: call.query('prefix') ?? '' }
}

export function readCount(text: string | undefined, name: string): number {
  if (text === undefined || text === '') return LIMITS.pageMax
  if (/^\d{1,10}$/.test(text)) return Math.min(Number(text), LIMITS.pageMax)
  throw new S3Fault('InvalidArgument', `${name} must be a whole number from 0.`)
}

type Entry = {
  key: string
  file: { contentSha256: string; size: number; updatedAt: unknown } | null
}

const contentsOf = (key: string, { contentSha256, size, updatedAt }: NonNullable<Entry['file']>): Element => [
  'Contents',
  [
    ['Key', key],
    ['LastModified', String(updatedAt)],
    ['ETag', etagOf(contentSha256)],
    ['Size', size],
    ['StorageClass', 'STANDARD'],
  ],
]

/** Reads a page of keys. Without a prefix, the list has all that the credential reaches. */
async function readKeys(call: Call, after: string) {
  const { limit, delimiter, encode, encoding, prefix } = listArguments(call, 'max-keys')
  const folders = delimiter !== ''
  // What is in a folder comes after its own key, and not after the folder.
  const start = after === prefix ? '' : after
  const { keys } = await findKeys({ base: call.bucket, prefix, after: start, folders, limit }, call.context)
  const entries: Entry[] = keys.entries
  // Nothing comes after a page of no keys.
  const isTruncated = keys.more && limit > 0
  const shown = entries
    .filter(({ key, file }) => !file || !folders || !keepsFolder(prefix, key, file))
    .map(
      ({ key, file }): Element =>
        file ? contentsOf(encode(key), file) : ['CommonPrefixes', [['Prefix', encode(key)]]],
    )
  const common: Element[] = [
    ['Name', call.bucket],
    ['Prefix', encode(prefix)],
    ['Delimiter', delimiter === '' ? undefined : encode(delimiter)],
    ['EncodingType', encoding],
    ['MaxKeys', limit],
    ['IsTruncated', isTruncated],
  ]
  const next = isTruncated ? entries.at(-1)?.key : undefined
  return { shown, common, next, count: shown.length, encode }
}

const seal = (key: string): string => Buffer.from(key).toString('base64url')

function unseal(token: string): string {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.toString('base64url') !== token || token === '')
    throw new S3Fault(
      'InvalidArgument',
      'The continuation token belongs to another list. Start again without it.',
    )
  return bytes.toString()
}

async function listObjectsV2(call: Call): Promise<Result> {
  if (call.query('list-type') !== '2') throw new S3Fault('InvalidArgument', 'list-type must be 2.')
  const [token, startAfter] = [call.query('continuation-token'), call.query('start-after')]
  const page = await readKeys(call, token === undefined ? (startAfter ?? '') : unseal(token))
  return {
    xml: [
      'ListBucketResult',
      [
        ...page.common,
        ['KeyCount', page.count],
        ['ContinuationToken', token],
        ['NextContinuationToken', page.next === undefined ? undefined : seal(page.next)],
        ['StartAfter', startAfter === undefined ? undefined : page.encode(startAfter)],
        ...page.shown,
      ],
    ],
  }
}

async function listObjects(call: Call): Promise<Result> {
  const marker = call.query('marker') ?? ''
  const page = await readKeys(call, marker)
  return {
    xml: [
      'ListBucketResult',
      [
        ...page.common,
        ['Marker', page.encode(marker)],
        ['NextMarker', page.next === undefined ? undefined : page.encode(page.next)],
        ...page.shown,
      ],
    ],
  }
}

async function deleteObjects(call: Call): Promise<Result> {
  const { bytes } = await call.body()
  const { root, items } = await readList(bytes, 'Delete', 'Object', LIMITS.s3DeletedKeys)
  if (items.length === 0) throw new S3Fault('MalformedXML', 'Name at least one object.')
  call.charge(items.length)
  const isQuiet = root.get('Quiet') === 'true'
  const results: Element[] = []
  for (const item of items) {
    const key = item.get('Key') ?? ''
    const result = await deleteOne(call, key, item)
    if (result || !isQuiet) results.push(result ?? ['Deleted', [['Key', key]]])
  }
  return { xml: ['DeleteResult', results] }
}

/** What a request says about each object to delete. */
const OF_DELETED = ['Key', 'VersionId', 'ETag']

/** Deletes one of many. Returns why it could not. */
async function deleteOne(
  call: Call,
  key: string,
  item: ReadonlyMap<string, string>,
): Promise<Element | undefined> {
  try {
    if (item.has('VersionId') && item.get('VersionId') !== 'null')
      throw new S3Fault(
        'NotImplemented',
        'Versions cannot be deleted. Leave VersionId out to delete the object.',
      )
    const other = [...item.keys()].find((name) => !OF_DELETED.includes(name))
    if (other !== undefined)
      throw new S3Fault('NotImplemented', `DeleteObjects does not take "${other.slice(0, 64)}" of an object.`)
    const { bucket } = call
    const file = fileOf(key)
    const target = isFolder(key) ? markerOf({ bucket, key }) : file && { base: bucket, ...file }
    if (target) await removeFile(target, call, readMatch(item.get('ETag')))
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof DomainError) || thrown.code === 'INTERNAL_ERROR') throw thrown
    const fault = faultOf(thrown)
    return [
      'Error',
      [
        ['Key', key],
        ['Code', fault.s3],
        ['Message', fault.message],
      ],
    ]
  }
}

/** Clients create their bucket to be sure of it. */
async function createBucket(): Promise<Result> {
  throw new S3Fault('BucketAlreadyOwnedByYou', 'The bucket is a base of Plinth, and it exists.')
}

const LIST = ['prefix', 'delimiter', 'encoding-type', 'max-keys', 'fetch-owner']

export const buckets: readonly Operation[] = [
  { name: 'ListBuckets', method: 'GET', on: 'service', run: listBuckets },
  { name: 'CreateBucket', method: 'PUT', on: 'bucket', run: createBucket },
  { name: 'HeadBucket', method: 'HEAD', on: 'bucket', run: async () => ({}) },
  {
    name: 'GetBucketLocation',
    method: 'GET',
    on: 'bucket',
    with: ['location'],
    run: async () => ({ xml: ['LocationConstraint', ''] }),
  },
  {
    name: 'GetBucketVersioning',
    method: 'GET',
    on: 'bucket',
    with: ['versioning'],
    run: async () => ({ xml: ['VersioningConfiguration', ''] }),
  },
  {
    name: 'ListObjectsV2',
    method: 'GET',
    on: 'bucket',
    with: ['list-type'],
    takes: [...LIST, 'continuation-token', 'start-after'],
    run: listObjectsV2,
  },
  {
    name: 'DeleteObjects',
    method: 'POST',
    on: 'bucket',
    with: ['delete'],
    run: deleteObjects,
  },
]

/** After the rows that a parameter selects. */
export const plainList: Operation = {
  name: 'ListObjects',
  method: 'GET',
  on: 'bucket',
  takes: [...LIST, 'marker'],
  run: listObjects,
}
