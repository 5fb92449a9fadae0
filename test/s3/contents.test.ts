// @module-tag full
/** A server that keeps its contents in a bucket. */
import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readS3Url } from '../../src/config/read-config.ts'
import { expectFailure, succeed } from '../support/answers.ts'
import { openBucket } from '../support/bucket.ts'
import { large, sha256 } from '../support/files.ts'
import { bytesOf, newKeys, senderOf } from '../support/s3.ts'
import { openWorld, type World } from '../support/world.ts'

const MB = 1024 * 1024
let world: World
let bucket: Awaited<ReturnType<typeof openBucket>>
beforeAll(async () => {
  bucket = await openBucket()
  world = await openWorld({ PLINTH_BLOB_URL: bucket.url })
  succeed(await world.call('PUT', '/v1/crm/file-types/docs', {}), 201)
})
afterAll(async () => {
  await world.close()
  await bucket.close()
})

const at = (path: string) => `/v1/crm/files/docs/${path}`
/** The names of the objects in the bucket. */
async function objects(): Promise<string[]> {
  const { endpoint = '', region = '' } = readS3Url(bucket.url) ?? {}
  const client = new S3Client({ endpoint, region, forcePathStyle: true })
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: 'contents' }))
  return Contents.map(({ Key = '' }) => Key)
}

test('files, their versions and their ranges are read from the bucket, also in parts, and small ones never reach it', {
  tags: 'full',
}, async () => {
  const [first, second, parts] = [large('Net 30 days, zanzibar'), large('Net 14 days'), randomBytes(17 * MB)]
  const text = { 'content-type': 'text/plain' }
  succeed(await world.call('PUT', at('terms.txt'), first, text), 201)
  succeed(await world.call('PUT', at('terms.txt'), second, text))
  succeed(await world.call('PUT', at('large.bin'), parts), 201)
  succeed(await world.call('PUT', at('small.txt'), 'small', text), 201)
  const stored = [first, second, parts].map((content) => `of/plinth/${sha256(content)}`)
  expect((await objects()).sort()).toEqual([...stored, 'of/plinth/store-id'].sort())
  expect((await world.call('GET', at('small.txt'))).text).toBe('small')
  expect((await world.call('GET', at('terms.txt?version=1'))).text).toBe(first)
  const part = await world.call('GET', at('large.bin'), undefined, { range: 'bytes=16777210-16777219' })
  expect([part.status, part.headers.get('content-length')]).toEqual([206, '10'])
  const keys = await newKeys(world, { file_type: 'docs' })
  const read = await bytesOf(await senderOf(keys)('GetObject', { Key: 'docs/large.bin' }))
  expect(read.equals(parts)).toBe(true)
  // What is on its way to the bucket is in a folder of its own, and is gone by then.
  expect(await readdir(join(world.dataDir, 'uploads'))).toEqual([])
  expect(await readdir(world.dataDir)).not.toContain('blobs')
})

test('a text in the bucket is found by a search, read by its lines, and edited', async () => {
  succeed(
    await world.call('PUT', at('long.txt'), `${'filler '.repeat(20_000)}\nquokka\n`, {
      'content-type': 'text/plain',
    }),
    201,
  )
  succeed(
    await world.call('PUT', at('ode.txt'), `quokka of the bucket\n${large('')}`, {
      'content-type': 'text/plain',
    }),
    201,
  )
  const { data } = succeed(await world.call('GET', '/v1/crm/files?search=quokka&snippets=true'))
  expect(data).toMatchObject([{ path: 'ode.txt', _snippets: [{ matches: ['quokka'] }] }])
  expect(succeed(await world.call('GET', at('long.txt?lines=2'))).text).toBe('quokka\n')
  const edits = [{ find: 'bucket', replace: 'island' }]
  expect(succeed(await world.call('PATCH', at('ode.txt'), { edits }))).toMatchObject({ version: 2 })
  expect((await world.call('GET', at('ode.txt'))).text).toBe(`quokka of the island\n${large('')}`)
})

test('an attachment in the bucket is downloaded by its signed URL, which does not name the bucket', async () => {
  const type = await world.newType()
  succeed(await world.call('PUT', `/v1/crm/records/${type}/r1`, { data: {} }), 201)
  const attachments = `/v1/crm/records/${type}/r1/attachments`
  const pending = succeed(
    await world.call('POST', attachments, { filename: 'a.txt', content_type: 'text/plain' }),
    201,
  )
  const sent = await fetch(pending.upload_url, {
    method: 'PUT',
    body: large('attached'),
    headers: { 'content-type': 'text/plain' },
  })
  expect(sent.status).toBe(200)
  const { url } = succeed(await world.call('GET', `${attachments}/a.txt`))
  const read = await fetch(url, { redirect: 'error' })
  expect([await read.text(), read.headers.get('x-content-type-options')]).toEqual([
    large('attached'),
    'nosniff',
  ])
  expect(url).not.toContain(new URL(bucket.url).searchParams.get('endpoint'))
})

test('a bucket that does not answer fails reads and writes of large contents, and leaves no file without one', {
  tags: 'full',
}, async () => {
  const other = await openBucket()
  const alone = await openWorld({ PLINTH_BLOB_URL: other.url })
  succeed(await alone.call('PUT', '/v1/crm/file-types/docs', {}), 201)
  succeed(await alone.call('PUT', at('before'), large('before')), 201)
  await other.close()
  for (const answer of [
    await alone.call('PUT', at('after'), large('after')),
    await alone.call('GET', at('before')),
  ])
    expect(expectFailure(answer, 'INTERNAL_ERROR').message).not.toContain('127.0.0.1')
  succeed(await alone.call('PUT', at('small'), 'small'), 201)
  expect((await alone.call('GET', at('small'))).text).toBe('small')
  const { data } = succeed(await alone.call('GET', '/v1/crm/files/docs'))
  expect(data).toMatchObject([{ path: 'before' }, { path: 'small' }])
  await alone.close()
})
