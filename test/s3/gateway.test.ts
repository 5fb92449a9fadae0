import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { putFile, sha256 } from '../support/files.ts'
import { bytesOf, clientOf, faultOf, type Keys, newKeys, type Send, senderOf } from '../support/s3.ts'
import { openWorld, type World } from '../support/world.ts'

const MB = 1024 * 1024

let world: World
let keys: Keys
let send: Send
beforeAll(async () => {
  world = await openWorld()
  for (const type of ['docs', 'a-b', 'a', 'listed'])
    succeed(await world.call('PUT', `/v1/crm/file-types/${type}`, {}), 201)
  keys = await newKeys(world)
  send = senderOf(keys)
})
afterAll(() => world.close())

const streamOf = (bytes: Buffer) => Readable.from([bytes.subarray(0, 1000), bytes.subarray(1000)])
const keysOf = (page: { Contents?: { Key: string }[] }) => (page.Contents ?? []).map(({ Key }) => Key)

test('an object is a file, with its type, its metadata and its versions', { tags: 'full' }, async () => {
  const Key = 'docs/a b/hello+é(1)\'&".txt'
  const first = await send('PutObject', {
    Key,
    Body: 'hello',
    ContentType: 'text/plain',
    Metadata: { year: '2026', who: 'é' },
  })
  expect(first.ETag).toBe(`"${sha256('hello')}"`)
  await send('PutObject', { Key, Body: 'again', ContentType: 'text/plain', Metadata: { year: '2026' } })
  const path = Key.slice('docs/'.length).split('/').map(encodeURIComponent).join('/')
  const file = succeed(await world.call('GET', `/v1/crm/files/docs/${path}?meta=1`))
  expect(file).toMatchObject({ version: 2, content_type: 'text/plain', metadata: { year: '2026' } })
  const found = await send('GetObject', { Key })
  expect(String(await bytesOf(found))).toBe('again')
  expect(found).toMatchObject({
    ContentType: 'text/plain',
    Metadata: { year: '2026' },
    ETag: `"${sha256('again')}"`,
  })
  expect(await send('HeadObject', { Key })).toMatchObject({ ContentLength: 5 })
  const { data } = succeed(await world.call('GET', '/v1/crm/changes?kind=file&limit=1000'))
  expect(data.at(-1)).toMatchObject({ operation: 'update', actor: { via: 'rest' } })
})

test.each(['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'])(
  'a streamed body has its checksum %s checked, in a trailer',
  async (ChecksumAlgorithm) => {
    const Key = `docs/${ChecksumAlgorithm}`
    const bytes = randomBytes(200_000)
    const ContentLength = bytes.length
    const stored = await send('PutObject', { Key, Body: streamOf(bytes), ContentLength, ChecksumAlgorithm })
    expect(stored[`Checksum${ChecksumAlgorithm}`]).toBeTypeOf('string')
    expect((await bytesOf(await send('GetObject', { Key }))).equals(bytes)).toBe(true)
  },
)

test('ranges and conditions hold as in S3', { tags: 'full' }, async () => {
  const Key = 'docs/ranged'
  const { ETag } = await send('PutObject', { Key, Body: '0123456789' })
  const part = await send('GetObject', { Key, Range: 'bytes=2-4' })
  expect([String(await bytesOf(part)), part.ContentRange]).toEqual(['234', 'bytes 2-4/10'])
  expect(await faultOf(send('GetObject', { Key, Range: 'bytes=10-' }))).toEqual({
    code: 'InvalidRange',
    status: 416,
  })
  expect((await faultOf(send('GetObject', { Key, IfNoneMatch: ETag }))).status).toBe(304)
  const failed = { code: 'PreconditionFailed', status: 412 }
  expect(await faultOf(send('GetObject', { Key, IfMatch: '"other"' }))).toEqual(failed)
  expect(await faultOf(send('GetObject', { Key, IfUnmodifiedSince: new Date(0) }))).toEqual(failed)
  expect(await faultOf(send('PutObject', { Key, Body: 'x', IfNoneMatch: '*' }))).toEqual(failed)
  expect(await faultOf(send('PutObject', { Key, Body: 'x', IfMatch: `"${sha256('y')}"` }))).toEqual(failed)
  expect(String(await bytesOf(await send('GetObject', { Key, IfMatch: ETag })))).toBe('0123456789')
  await send('PutObject', { Key, Body: 'x', IfMatch: ETag })
  expect((await faultOf(send('PutObject', { Key: 'docs/new', Body: 'x', IfMatch: ETag }))).status).toBe(404)
  await send('PutObject', { Key: 'docs/new', Body: 'x', IfNoneMatch: '*' })
})

test('lists are in the order of keys over all file types, with pages, prefixes and folders', {
  tags: 'full',
}, async () => {
  const all = ['a-b/1', 'a/0', 'a/b/1', 'a/b/2', 'a/b-c', 'a/é', 'a/z z&<'].sort((one, other) =>
    Buffer.compare(Buffer.from(one), Buffer.from(other)),
  )
  for (const Key of all) await send('PutObject', { Key, Body: Key })
  const found: string[] = []
  for (let ContinuationToken: string | undefined, pages = 0; pages === 0 || ContinuationToken; pages++) {
    const page = await send('ListObjectsV2', { MaxKeys: 2, Prefix: 'a', ContinuationToken })
    found.push(...keysOf(page))
    ContinuationToken = page.NextContinuationToken
    expect(page.IsTruncated).toBe(ContinuationToken !== undefined)
  }
  expect(found).toEqual(all)
  const marked: string[] = []
  for (let Marker: string | undefined, pages = 0; pages === 0 || Marker; pages++) {
    const page = await send('ListObjects', { MaxKeys: 3, Prefix: 'a', Marker, EncodingType: 'url' })
    marked.push(...keysOf(page).map(decodeURIComponent))
    Marker = page.NextMarker && decodeURIComponent(page.NextMarker)
  }
  expect(marked).toEqual(all)
  expect(keysOf(await send('ListObjectsV2', { StartAfter: 'a/b/1', Prefix: 'a/' }))).toEqual(
    all.filter((key) => key.startsWith('a/') && key > 'a/b/1'),
  )
  const folder = await send('ListObjectsV2', { Prefix: 'a/', Delimiter: '/' })
  expect(folder.CommonPrefixes).toEqual([{ Prefix: 'a/b/' }])
  expect(keysOf(folder)).toEqual(all.filter((key) => key.startsWith('a/') && !key.startsWith('a/b/')))
  const root = await send('ListObjectsV2', { Delimiter: '/' })
  expect(root.CommonPrefixes).toEqual(['a-b/', 'a/', 'docs/', 'listed/'].map((Prefix) => ({ Prefix })))
  const steps: string[] = []
  for (let ContinuationToken: string | undefined, n = 0; n === 0 || ContinuationToken; n++) {
    const page = await send('ListObjectsV2', { Delimiter: '/', MaxKeys: 1, ContinuationToken })
    steps.push(...(page.CommonPrefixes ?? []).map(({ Prefix }: { Prefix: string }) => Prefix))
    ContinuationToken = page.NextContinuationToken
  }
  expect(steps).toEqual(['a-b/', 'a/', 'docs/', 'listed/'])
  expect(await faultOf(send('ListObjectsV2', { Delimiter: '-' }))).toEqual({
    code: 'NotImplemented',
    status: 501,
  })
})

test('an empty folder is created, found, listed, copied and deleted', { tags: 'full' }, async () => {
  const folder = { Key: 'docs/made/é/' }
  expect((await send('PutObject', { ...folder, Body: '', Metadata: { mode: '16877' } })).ETag).toBe(
    `"${sha256('')}"`,
  )
  expect(await send('HeadObject', folder)).toMatchObject({
    ContentLength: 0,
    ContentType: 'application/x-directory',
  })
  const inside = await send('ListObjectsV2', { Prefix: folder.Key, Delimiter: '/' })
  expect([keysOf(inside), inside.CommonPrefixes, inside.KeyCount]).toEqual([[], undefined, 0])
  expect(keysOf(await send('ListObjectsV2', { Prefix: 'docs/made/' }))).toEqual([`${folder.Key}.folder`])
  const above = await send('ListObjectsV2', { Prefix: 'docs/made/', Delimiter: '/' })
  expect([keysOf(above), above.CommonPrefixes]).toEqual([[], [{ Prefix: folder.Key }]])
  const { data } = succeed(await world.call('GET', '/v1/crm/files/docs?prefix=made/'))
  expect(data).toMatchObject([{ path: 'made/é/.folder', size: 0 }])

  const copy = { Key: 'docs/made/copy/' }
  const CopySource = `crm/${encodeURI(folder.Key)}`
  expect(
    (await send('CopyObject', { ...copy, CopySource, MetadataDirective: 'REPLACE' })).CopyObjectResult,
  ).toMatchObject({
    ETag: `"${sha256('')}"`,
  })
  expect(await faultOf(send('CopyObject', { ...copy, CopySource: 'crm/docs/made/none/' }))).toEqual({
    code: 'NoSuchKey',
    status: 404,
  })
  await send('DeleteObject', folder)
  await send('DeleteObjects', { Delete: { Objects: [copy, { Key: 'docs/' }] } })
  for (const each of [folder, copy]) expect((await faultOf(send('HeadObject', each))).status).toBe(404)
  expect(await send('DeleteObject', folder)).toMatchObject({ $metadata: { httpStatusCode: 204 } })
})

test('a folder with files in it needs no file of its own', { tags: 'full' }, async () => {
  await send('PutObject', { Key: 'docs/full/a', Body: 'a' })
  await send('PutObject', { Key: 'docs/full/', Body: '' })
  await send('PutObject', { Key: 'docs/', Body: '' })
  await send('PutObject', { Key: 'docs/.folder', Body: '' })
  await send('PutObject', { Key: 'docs/own/.folder', Body: 'content' })
  for (const Prefix of ['docs/full/', 'docs/own/', 'docs/.f']) {
    const paths = succeed(
      await world.call('GET', `/v1/crm/files/docs?prefix=${Prefix.slice('docs/'.length)}`),
    ).data
    expect(keysOf(await send('ListObjectsV2', { Prefix, Delimiter: '/' }))).toEqual(
      paths.map(({ path }: { path: string }) => `docs/${path}`),
    )
  }
  await send('DeleteObject', { Key: 'docs/full/' })
  expect(String(await bytesOf(await send('GetObject', { Key: 'docs/full/a' })))).toBe('a')
  expect(await faultOf(send('PutObject', { Key: 'docs/full/', Body: '', IfNoneMatch: '*' }))).toEqual({
    code: 'PreconditionFailed',
    status: 412,
  })
})

test('a list goes on after the file that keeps a folder', { tags: 'full' }, async () => {
  for (const Key of ['docs/paged/', 'docs/paged/!', 'docs/paged/a', 'docs/paged/b/c'])
    await send('PutObject', { Key, Body: '' })
  const Prefix = 'docs/paged/'
  const walk = async (input: object) => {
    const seen: string[] = []
    for (let Marker = ''; ; ) {
      const page = await send('ListObjects', { Prefix, MaxKeys: 1, ...input, Marker })
      const keys = [
        ...keysOf(page),
        ...(page.CommonPrefixes ?? []).map((each: { Prefix: string }) => each.Prefix),
      ]
      seen.push(...keys)
      if (!page.IsTruncated) return seen.sort()
      Marker = keys[0] ?? page.NextMarker
      expect(seen.length).toBeLessThan(9)
    }
  }
  expect(await walk({})).toEqual(['docs/paged/!', 'docs/paged/.folder', 'docs/paged/a', 'docs/paged/b/c'])
  expect(await walk({ Delimiter: '/' })).toEqual(['docs/paged/!', 'docs/paged/a', 'docs/paged/b/'])
  const after = await send('ListObjectsV2', { Prefix, Delimiter: '/', StartAfter: Prefix })
  expect([keysOf(after), after.KeyCount]).toEqual([['docs/paged/!', 'docs/paged/a'], 3])
})

test('a folder has no content, a path like any other, and needs the right to write', {
  tags: 'full',
}, async () => {
  const invalid = { code: 'InvalidArgument', status: 400 }
  for (const input of [
    { Key: 'docs/full/', Body: 'content' },
    { Key: 'docs/../a/', Body: '' },
    { Key: 'docs//', Body: '' },
    { Key: `docs/${'x'.repeat(1020)}/`, Body: '' },
  ])
    expect(await faultOf(send('PutObject', input))).toEqual(invalid)
  const reader = senderOf(await newKeys(world, { permission: 'read' }))
  const other = senderOf(await newKeys(world, { file_type: 'listed' }))
  for (const by of [reader, other])
    for (const Key of ['docs/forbidden/', 'docs/'])
      expect(await faultOf(by('PutObject', { Key, Body: '' }))).toEqual({ code: 'AccessDenied', status: 403 })
  expect(await faultOf(send('PutObject', { Key: 'none/a/', Body: '' }))).toMatchObject({ status: 404 })
  expect(await faultOf(send('HeadObject', { Key: 'docs/forbidden/' }))).toMatchObject({ status: 404 })
})

test('what is deleted is gone, alone or with others, and deleting it again succeeds', {
  tags: 'full',
}, async () => {
  for (const Key of ['docs/x1', 'docs/x2', 'docs/"q"&<>']) await send('PutObject', { Key, Body: 'x' })
  await send('DeleteObject', { Key: 'docs/x1' })
  await send('DeleteObject', { Key: 'docs/x1' })
  const Objects = [{ Key: 'docs/x1' }, { Key: 'docs/x2' }, { Key: 'docs/"q"&<>' }]
  const { Deleted, Errors } = await send('DeleteObjects', { Delete: { Objects } })
  expect([Deleted, Errors]).toEqual([Objects, undefined])
  for (const { Key } of Objects)
    expect(await faultOf(send('GetObject', { Key }))).toEqual({ code: 'NoSuchKey', status: 404 })
  expect(await send('DeleteObjects', { Delete: { Objects, Quiet: true } })).not.toHaveProperty('Deleted')
  // Nor is there anything of a file type that does not exist.
  const Key = 'unknown/x1'
  await send('DeleteObject', { Key })
  expect(await send('DeleteObjects', { Delete: { Objects: [{ Key }] } })).toMatchObject({
    Deleted: [{ Key }],
  })
})

test('of many objects, one is deleted only with the ETag that it was named with', {
  tags: 'full',
}, async () => {
  for (const Key of ['docs/kept', 'docs/gone', 'docs/any']) await send('PutObject', { Key, Body: Key })
  const Objects = [
    { Key: 'docs/kept', ETag: `"${sha256('other')}"` },
    { Key: 'docs/gone', ETag: `"${sha256('docs/gone')}"` },
    { Key: 'docs/any', ETag: '*' },
    { Key: 'docs/absent', ETag: '*' },
    { Key: 'docs/kept', Size: 1 },
  ]
  const { Deleted, Errors } = await send('DeleteObjects', { Delete: { Objects } })
  expect(Deleted.map(({ Key }: { Key: string }) => Key)).toEqual(['docs/gone', 'docs/any'])
  expect(Errors.map(({ Code }: { Code: string }) => Code)).toEqual([
    'PreconditionFailed',
    'NoSuchKey',
    'NotImplemented',
  ])
  const ofSize = send('DeleteObject', { Key: 'docs/kept', IfMatchSize: 1 })
  expect(await faultOf(ofSize)).toEqual({ code: 'NotImplemented', status: 501 })
  expect(String(await bytesOf(await send('GetObject', { Key: 'docs/kept' })))).toBe('docs/kept')
})

test('a copy has the content of its source, and its own properties if it asks for them', {
  tags: 'full',
}, async () => {
  await send('PutObject', {
    Key: 'docs/from é',
    Body: 'copied',
    ContentType: 'text/css',
    Metadata: { a: '1' },
  })
  const CopySource = `crm/${encodeURIComponent('docs/from é')}`
  await send('CopyObject', { Key: 'a/copy', CopySource })
  expect(await send('HeadObject', { Key: 'a/copy' })).toMatchObject({
    ContentType: 'text/css',
    Metadata: { a: '1' },
  })
  const own = { MetadataDirective: 'REPLACE', ContentType: 'text/html', Metadata: { b: '2' } }
  await send('CopyObject', { Key: 'a/copy', CopySource, ...own })
  expect(await send('HeadObject', { Key: 'a/copy' })).toMatchObject({
    ContentType: 'text/html',
    Metadata: { b: '2' },
  })
  expect(succeed(await world.call('GET', '/v1/crm/files/a/copy?meta=1')).version).toBe(1)
  const refused = faultOf(send('CopyObject', { Key: 'a/copy', CopySource, CopySourceIfMatch: '"x"' }))
  expect(await refused).toEqual({ code: 'PreconditionFailed', status: 412 })
})

test('an upload in parts shows when it is complete, and not when it is aborted', {
  tags: 'full',
}, async () => {
  const Key = 'docs/parts.bin'
  const parts = [randomBytes(5 * MB), randomBytes(5 * MB + 3), randomBytes(17)]
  await send('PutObject', { Key: 'docs/source', Body: parts[2] })
  const { UploadId } = await send('CreateMultipartUpload', { Key, ContentType: 'x/y', Metadata: { m: '1' } })
  const Parts: { PartNumber: number; ETag: string }[] = []
  for (const [at, Body] of parts.slice(0, 2).entries()) {
    const { ETag } = await send('UploadPart', { Key, UploadId, PartNumber: at + 1, Body })
    Parts.push({ PartNumber: at + 1, ETag })
  }
  const copied = { Key, UploadId, PartNumber: 7, CopySource: 'crm/docs/source' }
  const { CopyPartResult } = await send('UploadPartCopy', copied)
  Parts.push({ PartNumber: 7, ETag: CopyPartResult.ETag })
  expect((await send('ListMultipartUploads', { Prefix: 'docs/' })).Uploads).toMatchObject([{ Key, UploadId }])
  const listed = await send('ListParts', { Key, UploadId, MaxParts: 2 })
  expect([listed.IsTruncated, listed.NextPartNumberMarker, listed.Parts.length]).toEqual([true, '2', 2])
  expect((await faultOf(send('HeadObject', { Key }))).status).toBe(404)
  const complete = (Parts: object[]) =>
    send('CompleteMultipartUpload', { Key, UploadId, MultipartUpload: { Parts } })
  const [one, two, last] = Parts as [object, object, object]
  expect((await faultOf(complete([two, one]))).code).toBe('InvalidPartOrder')
  expect((await faultOf(complete([one, { PartNumber: 3, ETag: '"x"' }]))).code).toBe('InvalidPart')
  expect((await faultOf(complete([one, last, { PartNumber: 8, ETag: CopyPartResult.ETag }]))).code).toBe(
    'EntityTooSmall',
  )
  await complete(Parts)
  const whole = await send('GetObject', { Key })
  expect(whole).toMatchObject({ ContentType: 'x/y', Metadata: { m: '1' } })
  expect((await bytesOf(whole)).equals(Buffer.concat(parts))).toBe(true)
  expect(await faultOf(complete(Parts))).toEqual({ code: 'NoSuchUpload', status: 404 })
  const other = await send('CreateMultipartUpload', { Key: 'docs/never' })
  await send('AbortMultipartUpload', { Key: 'docs/never', UploadId: other.UploadId })
  expect((await send('ListMultipartUploads')).Uploads).toBeUndefined()
  expect((await faultOf(send('HeadObject', { Key: 'docs/never' }))).status).toBe(404)
})

/** Two parts, their checksums, and the checksum of the whole. */
async function sendParts(Key: string, algorithm: 'CRC32' | 'SHA256') {
  const parts = [randomBytes(5 * MB), randomBytes(1000)]
  const { UploadId } = await send('CreateMultipartUpload', { Key, ChecksumAlgorithm: algorithm })
  const Parts: object[] = []
  for (const [at, Body] of parts.entries()) {
    const { ETag } = await send('UploadPart', { Key, UploadId, PartNumber: at + 1, Body })
    Parts.push({ PartNumber: at + 1, ETag })
  }
  const complete = (more: object) =>
    send('CompleteMultipartUpload', { Key, UploadId, MultipartUpload: { Parts }, ...more })
  return { parts, complete, size: 5 * MB + 1000 }
}
const crc32Of = (bytes: Buffer) => {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(bytes))
  return sum.toString('base64')
}
const sha1Of = (parts: readonly Buffer[]) => createHash('sha1').update(Buffer.concat(parts)).digest('base64')
const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest()

test('an upload in parts is complete only with the size and the checksum of the whole object', {
  tags: 'full',
}, async () => {
  const Key = 'docs/declared.bin'
  const { parts, complete, size } = await sendParts(Key, 'CRC32')
  const whole = crc32Of(Buffer.concat(parts))
  const other = crc32Of(Buffer.from('other'))
  const refusals = [
    [{ ChecksumCRC32: other, ChecksumType: 'FULL_OBJECT' }, 'BadDigest'],
    [{ ChecksumCRC32: other }, 'BadDigest'],
    [{ ChecksumCRC32: whole, ChecksumType: 'COMPOSITE' }, 'BadDigest'],
    [{ ChecksumCRC32: 'short' }, 'InvalidDigest'],
    [{ ChecksumCRC32: whole, ChecksumSHA1: sha1Of(parts) }, 'InvalidRequest'],
    [{ MpuObjectSize: size - 1 }, 'InvalidRequest'],
  ] as const
  for (const [declared, code] of refusals)
    expect(await faultOf(complete(declared)), JSON.stringify(declared)).toEqual({ code, status: 400 })
  expect((await faultOf(send('HeadObject', { Key }))).status).toBe(404)
  await complete({ ChecksumCRC32: whole, ChecksumType: 'FULL_OBJECT', MpuObjectSize: size })
  expect((await send('HeadObject', { Key })).ContentLength).toBe(size)
})

test('an upload in parts is complete with the checksum of the checksums of its parts', {
  tags: 'full',
}, async () => {
  const Key = 'docs/composite.bin'
  const { parts, complete, size } = await sendParts(Key, 'SHA256')
  const composite = sha256Of(Buffer.concat(parts.map(sha256Of))).toString('base64')
  const reversed = sha256Of(Buffer.concat(parts.map(sha256Of).reverse())).toString('base64')
  expect(await faultOf(complete({ ChecksumSHA256: `${reversed}-2` }))).toEqual({
    code: 'BadDigest',
    status: 400,
  })
  await complete({ ChecksumSHA256: `${composite}-2`, ChecksumType: 'COMPOSITE' })
  expect((await send('HeadObject', { Key })).ContentLength).toBe(size)
})

test('presigned URLs read and write without headers, until they expire or are altered', async () => {
  const client = clientOf(keys)
  const Key = 'docs/presigned'
  const upload = await getSignedUrl(
    client,
    new PutObjectCommand({ Bucket: 'crm', Key, Metadata: { a: '1' } }),
    { expiresIn: 60 },
  )
  expect((await fetch(upload, { method: 'PUT', body: 'signed' })).status).toBe(200)
  const download = await getSignedUrl(client, new GetObjectCommand({ Bucket: 'crm', Key }), { expiresIn: 60 })
  const read = await fetch(download)
  expect([await read.text(), read.headers.get('x-amz-meta-a')]).toEqual(['signed', '1'])
  const altered = [
    download.replace('presigned?', 'ranged?'),
    download.replace('X-Amz-Expires=60', 'X-Amz-Expires=6000'),
    download.replace(/X-Amz-Signature=./, 'X-Amz-Signature=_'),
  ]
  for (const url of altered) {
    expect(url).not.toBe(download)
    expect((await fetch(url)).status).toBe(403)
  }
  expect((await fetch(download, { method: 'DELETE' })).status).toBe(403)
  const old = await getSignedUrl(client, new GetObjectCommand({ Bucket: 'crm', Key }), {
    expiresIn: 60,
    signingDate: new Date(Date.now() - 120_000),
  })
  expect(await (await fetch(old)).text()).toContain('<Code>AccessDenied</Code>')
})

test('a URL signed with Signature V2, or such a header, is told to use V4', async () => {
  const old = new URLSearchParams({
    AWSAccessKeyId: keys.access_key_id,
    Signature: 'vjbyPxybdZaNmGa+yT272YEAiv4=',
    Expires: String(Math.floor(Date.now() / 1000) + 60),
    'x-amz-security-token': keys.session_token,
  })
  const authorization = `AWS ${keys.access_key_id}:vjbyPxybdZaNmGa+yT272YEAiv4=`
  for (const [url, headers] of [
    [`${keys.endpoint}/crm/docs/presigned?${old}`, {}],
    [`${keys.endpoint}/crm/docs/presigned`, { authorization }],
  ] as const) {
    const answer = await fetch(url, { headers })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toMatch(/<Code>InvalidRequest<.*Signature V4.*&quot;auto&quot;/)
  }
})

test('a credential names the region auto, and any other one is taken', { tags: 'full' }, async () => {
  expect(keys.region).toBe('auto')
  const Key = 'docs/of-any-region'
  await senderOf(keys)('PutObject', { Bucket: 'crm', Key, Body: 'x' })
  for (const region of ['auto', 'us-east-1', 'eu-central-1']) {
    const client = clientOf(keys, { region })
    expect((await senderOf(keys, client)('ListBuckets')).Buckets).toMatchObject([{ Name: 'crm' }])
    const url = await getSignedUrl(client, new GetObjectCommand({ Bucket: 'crm', Key }))
    expect((await fetch(url)).status).toBe(200)
  }
})

describe('a signed download with headers for its response', () => {
  const Key = 'docs/report'
  const response = {
    ResponseContentType: 'text/plain; charset=utf-8',
    ResponseContentDisposition: `inline; filename="r.txt"; filename*=UTF-8''r%C3%A9.txt`,
    ResponseContentEncoding: 'identity',
    ResponseContentLanguage: 'de',
    ResponseCacheControl: 'max-age=60',
    ResponseExpires: new Date('2030-01-01T00:00:00Z'),
  }
  const urlOf = (more: object, Name: string = Key) =>
    getSignedUrl(clientOf(keys), new GetObjectCommand({ Bucket: 'crm', Key: Name, ...more }))
  const headersOf = async (url: string, method = 'GET') => {
    const { status, headers } = await fetch(url, { method })
    expect(status).toBe(200)
    return headers
  }

  test('gets the six of them, and only where the signature has them', { tags: 'full' }, async () => {
    await send('PutObject', { Key, Body: '{}', ContentType: 'application/json' })
    const url = await urlOf(response)
    const headers = await headersOf(url)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': response.ResponseContentType,
      'content-disposition': response.ResponseContentDisposition,
      'content-encoding': 'identity',
      'content-language': 'de',
      'cache-control': 'max-age=60',
      expires: 'Tue, 01 Jan 2030 00:00:00 GMT',
      'x-content-type-options': 'nosniff',
    })
    expect((await headersOf(await urlOf({}))).get('content-type')).toBe('application/json')
    expect((await fetch(url.replace('max-age%3D60', 'max-age%3D61'))).status).toBe(403)
    expect((await fetch(`${await urlOf({})}&response-content-type=text%2Fplain`)).status).toBe(403)
    expect((await send('HeadObject', { Key, ResponseContentType: 'text/csv' })).ContentType).toBe('text/csv')
  })

  test('stays an attachment if a browser could run it', async () => {
    await send('PutObject', { Key: 'docs/page', Body: '<script>1</script>', ContentType: 'text/plain' })
    const inline = { ResponseContentDisposition: 'inline; filename="p.html"' }
    for (const more of [
      { ...inline, ResponseContentType: 'text/html' },
      { ...inline, ResponseContentType: 'image/svg+xml' },
      { ResponseContentType: 'text/html', ResponseContentDisposition: 'filename="p.html"' },
    ]) {
      const headers = await headersOf(await urlOf(more, 'docs/page'))
      expect(headers.get('content-disposition')).toMatch(/^attachment/)
      expect(headers.get('content-security-policy')).toMatch(/^sandbox/)
    }
    const shown = await headersOf(await urlOf(inline, 'docs/page'))
    expect(shown.get('content-disposition')).toBe('inline; filename="p.html"')
  })

  test('is refused with a value that a header cannot have', async () => {
    const invalid = { code: 'InvalidArgument', status: 400 }
    for (const more of [
      { ResponseContentDisposition: 'attachment; filename="\u4e2d.txt"' },
      { ResponseContentDisposition: 'a\r\nx-injected: 1' },
      { ResponseContentType: 'text' },
      { ResponseContentLanguage: 'x'.repeat(1025) },
    ])
      expect(await faultOf(send('GetObject', { Key, ...more })), JSON.stringify(more)).toEqual(invalid)
  })
})

test('properties of an object that a file does not keep are refused by name, and nothing is stored', {
  tags: 'full',
}, async () => {
  const refused = { code: 'NotImplemented', status: 501 }
  for (const more of [
    { CacheControl: 'max-age=60' },
    { ContentDisposition: 'attachment' },
    { ContentLanguage: 'de' },
    { Expires: new Date() },
    { StorageClass: 'GLACIER' },
  ])
    for (const name of ['PutObject', 'CreateMultipartUpload'] as const)
      expect(await faultOf(send(name, { Key: 'docs/properties', ...more })), JSON.stringify(more)).toEqual(
        refused,
      )
  expect((await faultOf(send('HeadObject', { Key: 'docs/properties' }))).status).toBe(404)
  await send('PutObject', {
    Key: 'docs/properties',
    Body: 'x',
    CacheControl: 'no-cache',
    StorageClass: 'STANDARD',
  })
})

test('a bucket is a base: it is found, listed and located, and not created', async () => {
  await send('HeadBucket')
  expect((await send('ListBuckets', { Bucket: undefined })).Buckets).toMatchObject([{ Name: 'crm' }])
  await send('GetBucketLocation')
  expect(await faultOf(send('CreateBucket'))).toEqual({ code: 'BucketAlreadyOwnedByYou', status: 409 })
  expect(await faultOf(send('GetObjectAcl', { Key: 'docs/new' }))).toEqual({
    code: 'NotImplemented',
    status: 501,
  })
})

test('what the file type refuses is refused in the terms of S3', { tags: 'full' }, async () => {
  const storage = { max_bytes: 10, content_types: ['text/plain'], immutable: true }
  succeed(await world.call('PUT', '/v1/crm/file-types/strict', { storage }), 201)
  const put = (more: object) =>
    send('PutObject', { Key: 'strict/x', Body: 'small', ContentType: 'text/plain', ...more })
  expect(await faultOf(put({ Body: 'more than ten bytes' }))).toEqual({ code: 'EntityTooLarge', status: 400 })
  expect(await faultOf(put({ ContentType: 'text/css' }))).toEqual({ code: 'InvalidArgument', status: 400 })
  await put({})
  expect(await faultOf(put({ Body: 'other' }))).toEqual({ code: 'AccessDenied', status: 403 })
  expect(await faultOf(send('DeleteObject', { Key: 'strict/x' }))).toEqual({
    code: 'AccessDenied',
    status: 403,
  })
  succeed(await putFile(world.call, 'docs', 'large', 'more than ten bytes'), 201)
  const copy = { Key: 'strict/copy', CopySource: 'crm/docs/large' }
  expect((await faultOf(send('CopyObject', copy))).code).toBe('EntityTooLarge')
})
