// @module-tag frameworks
/** S3 clients that take a host, a port and keys, with the options that they have by default. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { type Keys, newKeys } from '../support/s3.ts'
import { caller, openServer, type TestServer } from '../support/server.ts'

let server: TestServer
let keys: Keys
beforeAll(async () => {
  server = await openServer({ PLINTH_S3_HOST: '127.0.0.1' })
  // By this name the server has its other surfaces.
  const call = caller(server.url.replace('127.0.0.1', 'localhost'), server.adminToken)
  succeed(await call('PUT', '/v1/bases/crm', {}), 201)
  succeed(await call('PUT', '/v1/crm/file-types/docs', {}), 201)
  keys = await newKeys({ call } as never)
})
afterAll(() => server.close())

test('minio-js writes, reads, lists, signs and deletes', async () => {
  const args = [join(import.meta.dirname, 'run-s3-client.mjs'), JSON.stringify(keys)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(JSON.parse(stdout)).toEqual({
    exists: true,
    text: 'hello',
    isLargeWhole: true,
    stat: [5, '2026'],
    names: ['docs/a b+é.txt', 'docs/large'],
    download: ['hello', 'attachment; filename="b.txt"'],
    upload: [200, 'up'],
    left: [expect.objectContaining({ name: 'docs/up', size: 2 })],
  })
})
