/** The gateway at the root of a host of its own. */
import { Agent, request } from 'node:http'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../src/config/read-config.ts'
import { succeed } from '../support/answers.ts'
import { sha256 } from '../support/files.ts'
import { bytesOf, clientOf, faultOf, type Keys, newKeys, senderOf } from '../support/s3.ts'
import { openWorld, type World } from '../support/world.ts'

const HOST = 's3.plinth.test'
let world: World
let keys: Keys
beforeAll(async () => {
  world = await openWorld({ PLINTH_S3_HOST: HOST })
  succeed(await world.call('PUT', '/v1/crm/file-types/docs', {}), 201)
  succeed(await world.call('PUT', '/v1/bases/s3', {}), 201)
  keys = await newKeys(world)
})
afterAll(() => world.close())

/** All names are this machine. */
const httpAgent = new Agent({
  lookup: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
})
const clientAt = (of: Keys, forcePathStyle: boolean) =>
  clientOf(of, { forcePathStyle, requestHandler: { httpAgent } as never })
const get = (url: string, headers = {}) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    request(url, { agent: httpAgent, headers }, async (response) => {
      const chunks = await response.toArray()
      resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() })
    })
      .on('error', reject)
      .end()
  })

test('a credential names the host as its endpoint, with the scheme and port of the server', () => {
  expect(keys.endpoint).toBe(world.url.replace('127.0.0.1', HOST))
  expect(keys.mount.rclone).toContain(`endpoint='"${keys.endpoint}"'`)
  expect(keys.mount.s3fs).toContain(`url=${keys.endpoint} `)
})

test.each([
  ['path', true],
  ['virtual-hosted', false],
])('all requests of the SDK work in %s style', async (style, forcePathStyle) => {
  const client = clientAt(keys, forcePathStyle)
  const send = senderOf(keys, client)
  const Key = `docs/${style}/a b+\u00e9.txt`
  expect((await send('PutObject', { Key, Body: 'hello' })).ETag).toBe(`"${sha256('hello')}"`)
  expect(String(await bytesOf(await send('GetObject', { Key })))).toBe('hello')
  const { Contents } = await send('ListObjectsV2', { Prefix: `docs/${style}/` })
  expect(Contents).toMatchObject([{ Key }])
  await send('HeadBucket')
  expect((await send('ListBuckets')).Buckets).toMatchObject([{ Name: 'crm' }])
  const url = await getSignedUrl(client, new GetObjectCommand({ Bucket: 'crm', Key }))
  expect(await get(url)).toEqual({ status: 200, text: 'hello' })
  expect((await get(url.replace('a%20b', 'a%20c'))).status).toBe(403)
  expect((await faultOf(send('GetObject', { Key: 'docs/none' }))).code).toBe('NoSuchKey')
  await send('DeleteObject', { Key })
})

test('the address below /s3 still works, and at the root of the host "s3" is a bucket like any other', {
  tags: 'full',
}, async () => {
  const below = senderOf({ ...keys, endpoint: `${world.url}/s3` })
  await below('PutObject', { Key: 'docs/below', Body: 'below' })
  const send = senderOf(keys, clientAt(keys, true))
  expect(String(await bytesOf(await send('GetObject', { Key: 'docs/below' })))).toBe('below')
  expect((await faultOf(send('HeadBucket', { Bucket: 's3' }))).status).toBe(403)
  const own = await newKeys(world, {}, { base: 's3' })
  await senderOf(own, clientAt(own, true))('HeadBucket')
  await senderOf(own, clientAt(own, false))('HeadBucket')
})

test('the host has S3 only, for every path, and other hosts have none of it at their root', {
  tags: 'full',
}, async () => {
  const authorization = `Bearer ${world.adminToken}`
  for (const path of ['/v1/bases', '/healthz', '/', '/mcp'])
    for (const host of [HOST, HOST.toUpperCase(), `${HOST}:80`, `crm.${HOST}`])
      expect((await get(`${world.url}${path}`, { host, authorization })).text, host + path).toContain(
        '<Code>AuthorizationHeaderMalformed</Code>',
      )
  for (const host of ['other.test', `x${HOST}`, `${HOST}.other.test`, `a/b.${HOST}`, `.${HOST}`])
    expect((await get(`${world.url}/healthz`, { host })).status, host).toBe(200)
  expect((await get(keys.endpoint)).text).toContain('<Resource>/</Resource>')
})

test('a setting that is no host name, or the host of the server, is refused', () => {
  for (const PLINTH_S3_HOST of ['https://s3.example', 's3.example:9000', '*.s3.example', 'plinth.example'])
    expect(() => readConfig({ PLINTH_S3_HOST, PLINTH_PUBLIC_URL: 'https://plinth.example' })).toThrow(
      'PLINTH_S3_HOST',
    )
  expect(readConfig({ PLINTH_S3_HOST: 'S3.Example' }).s3Host).toBe('s3.example')
})
