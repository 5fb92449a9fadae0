// @module-tag full
// @module-tag sampled
/** Changed requests of every S3 operation, signed, are answered without a fault of the server. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OPERATIONS } from '../../src/s3/operations/table.ts'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { putFile } from '../support/files.ts'
import { faultIn, fuzz, odd, textOf } from '../support/fuzz.ts'
import { type Keys, newKeys } from '../support/s3.ts'
import { rawTo, type Sent, signedWith } from '../support/s3-raw.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let keys: Keys
let upload: string
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/file-types/docs', {}), 201)
  succeed(await putFile(world.call, 'docs', 'a.txt', 'one two'), 201)
  keys = await newKeys(world)
  const begun = await rawTo(world)(
    await signedWith(world, keys)({ method: 'POST', path: '/s3/crm/docs/u.bin', query: { uploads: '' } }),
  )
  upload = /<UploadId>([^<]+)/.exec(begun.text)?.[1] ?? ''
})
afterAll(() => world.close())

const A = '/s3/crm/docs/a.txt'
const xml = (name: string, inner: string) =>
  `<${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inner}</${name}>`
/** A request of every operation; `UPLOAD` is the id of one. */
const SAMPLES: Readonly<Record<string, Sent>> = {
  ListBuckets: { path: '/s3' },
  CreateBucket: { method: 'PUT', path: '/s3/crm' },
  HeadBucket: { method: 'HEAD', path: '/s3/crm' },
  GetBucketLocation: { path: '/s3/crm', query: { location: '' } },
  GetBucketVersioning: { path: '/s3/crm', query: { versioning: '' } },
  ListObjectsV2: {
    path: '/s3/crm',
    query: {
      'list-type': '2',
      prefix: 'docs/',
      delimiter: '/',
      'max-keys': '5',
      'start-after': 'docs/a',
      'encoding-type': 'url',
    },
  },
  ListObjects: { path: '/s3/crm', query: { prefix: 'docs/', marker: 'docs/a', 'max-keys': '5' } },
  DeleteObjects: {
    method: 'POST',
    path: '/s3/crm',
    query: { delete: '' },
    body: xml('Delete', '<Object><Key>docs/none</Key></Object><Quiet>true</Quiet>'),
  },
  PutObject: {
    method: 'PUT',
    path: '/s3/crm/docs/p.txt',
    headers: { 'content-type': 'text/plain', 'x-amz-meta-a': '1' },
    body: 'x',
  },
  CopyObject: {
    method: 'PUT',
    path: '/s3/crm/docs/c.txt',
    headers: { 'x-amz-copy-source': '/crm/docs/a.txt' },
  },
  GetObject: {
    path: A,
    query: { 'response-content-type': 'text/plain' },
    headers: { range: 'bytes=0-2', 'if-none-match': '"x"' },
  },
  HeadObject: { method: 'HEAD', path: A },
  DeleteObject: { method: 'DELETE', path: '/s3/crm/docs/none.txt' },
  ListMultipartUploads: { path: '/s3/crm', query: { uploads: '', prefix: 'docs/', 'max-uploads': '5' } },
  CreateMultipartUpload: { method: 'POST', path: '/s3/crm/docs/v.bin', query: { uploads: '' } },
  UploadPart: {
    method: 'PUT',
    path: '/s3/crm/docs/u.bin',
    query: { uploadId: 'UPLOAD', partNumber: '1' },
    body: 'x',
  },
  UploadPartCopy: {
    method: 'PUT',
    path: '/s3/crm/docs/u.bin',
    query: { uploadId: 'UPLOAD', partNumber: '2' },
    headers: { 'x-amz-copy-source': '/crm/docs/a.txt', 'x-amz-copy-source-range': 'bytes=0-2' },
  },
  ListParts: { path: '/s3/crm/docs/u.bin', query: { uploadId: 'UPLOAD', 'max-parts': '5' } },
  CompleteMultipartUpload: {
    method: 'POST',
    path: '/s3/crm/docs/u.bin',
    query: { uploadId: 'UPLOAD' },
    body: xml('CompleteMultipartUpload', '<Part><PartNumber>9</PartNumber><ETag>"x"</ETag></Part>'),
  },
  AbortMultipartUpload: { method: 'DELETE', path: '/s3/crm/docs/u.bin', query: { uploadId: 'absent' } },
}
const NAMES = Object.keys(SAMPLES)
const PARAMETERS = [
  'prefix',
  'marker',
  'max-keys',
  'delimiter',
  'versionId',
  'uploadId',
  'partNumber',
  'continuation-token',
  'acl',
]
const HEADERS = [
  'range',
  'if-match',
  'if-modified-since',
  'content-md5',
  'x-amz-copy-source',
  'x-amz-meta-b',
  'x-amz-checksum-crc32',
  'x-amz-checksum-sha256',
  'x-amz-content-sha256',
  'content-type',
  'x-amz-decoded-content-length',
]

type Change = { sample: number; part: number; at: number; by: unknown; cut: number }
const changes: fc.Arbitrary<Change> = fc.record({
  sample: fc.nat(),
  part: fc.nat(4),
  at: fc.nat(99),
  by: odd,
  cut: fc.nat(120),
})

const pick = <T>(list: readonly T[], at: number): T => list[at % list.length] as T
/** What a header can carry. */
const inHeader = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 900)

function changedRequest({ path, query = {}, headers = {}, body, ...more }: Sent, change: Change): Sent {
  const { part, at, cut } = change
  const text = textOf(change.by).toWellFormed()
  const all = { ...more, path, query, headers, ...(body !== undefined && { body }) }
  if (part === 0)
    return {
      ...all,
      path: `${path.slice(0, Math.max(3, cut % 20))}/${encodeURIComponent(text.slice(0, 1500))}`,
    }
  if (part === 1)
    return {
      ...all,
      query: { ...query, [pick([...Object.keys(query), ...PARAMETERS], at)]: text.slice(0, 1500) },
    }
  if (part === 2)
    return {
      ...all,
      headers: { ...headers, [pick([...Object.keys(headers), ...HEADERS], at)]: inHeader(text) },
    }
  if (part === 3 && typeof body === 'string')
    return { ...all, body: body.slice(0, cut) + text + body.slice(cut + (at % 9)) }
  return { ...all, method: pick(['GET', 'PUT', 'POST', 'DELETE', 'HEAD', 'PATCH'], at) }
}

test('every operation has a sample', () => {
  expect([...new Set(OPERATIONS.map(({ name }) => name))].sort()).toEqual(NAMES.toSorted())
})

test('every sample is answered below 500, most with success', async () => {
  const statuses = new Map<string, number>()
  for (const [name, sample] of Object.entries(SAMPLES)) statuses.set(name, (await send(sample)).status)
  const failed = [...statuses].filter(([, status]) => status >= 400).map(([name]) => name)
  expect(failed.sort()).toEqual(['AbortMultipartUpload', 'CompleteMultipartUpload', 'CreateBucket'])
})

async function send(sample: Sent) {
  const query = Object.fromEntries(
    Object.entries(sample.query ?? {}).map(([name, value]) => [name, value.replace('UPLOAD', upload)]),
  )
  return rawTo(world)(await signedWith(world, keys)({ ...sample, query }))
}

test(
  'every changed request is answered, without what only the server knows',
  async () => {
    expect(
      await fuzz(changes, 800, async (change) => {
        const name = pick(NAMES, change.sample)
        const { status, text } = await send(changedRequest(SAMPLES[name] as Sent, change))
        // 501 says that S3 has what is asked for, and this server does not.
        const found = status === 501 ? null : faultIn(status, text, change.by)
        return found && `${name} ${found}`
      }),
    ).toEqual([])
    expect((await send(SAMPLES['ListBuckets'] as Sent)).status).toBe(200)
  },
  CASES_TIMEOUT,
)
