import { pbkdf2, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readlink, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { readS3Url } from '../../src/config/read-config.ts'
import { openOwnContent } from '../../src/engine/files/index.ts'
import type { BlobStore } from '../../src/engine/storage/blobs/blob-store.ts'
import { openBlobStore } from '../../src/engine/storage/blobs/open.ts'
import { blobSuite, sha256, streamOf } from '../support/blob-suite.ts'
import { openBucket } from '../support/bucket.ts'

const folder = () => mkdtemp(join(tmpdir(), 'plinth-blobs-'))
const openIn = (directory: string, isShared = false) => openBlobStore({ driver: 'file', directory, isShared })
const limits = { maxBytes: 10_000_000 }

async function newFolder(): Promise<string> {
  const directory = await folder()
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

describe('in files', () => {
  blobSuite(async () => {
    const directory = await folder()
    const close = () => rm(directory, { recursive: true, force: true })
    return { store: await openIn(directory), close }
  })
})

test('a content that another server removes while a request opens it is to be sent again', async () => {
  const store = await openIn(await newFolder())
  const content = await store.put(streamOf(Buffer.alloc(20_000)), limits)
  const blobs: BlobStore = {
    ...store,
    open: async (sha256) => {
      await store.remove(sha256)
      return store.open(sha256)
    },
  }
  await expect(openOwnContent({ blobs }, content)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
})

describe('in a bucket of S3', { tags: 'full' }, () => {
  blobSuite(async () => {
    const directory = await folder()
    const { url, close } = await openBucket()
    const bucket = readS3Url(url)
    if (!bucket) throw new Error('The URL is malformed')
    const store = await openBlobStore({ driver: 's3', ...bucket, directory, isShared: false })
    return {
      store,
      close: async () => {
        expect(await readdir(directory)).toEqual([])
        await rm(directory, { recursive: true, force: true })
        await close()
      },
    }
  })
})

/** A store in a bucket whose requests `answer` gets. */
async function openBucketOf(directory: string, answer: RequestListener) {
  let connections = 0
  const server = createServer(answer).on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test')
  onTestFinished(() => void vi.unstubAllEnvs())
  const { port } = server.address() as AddressInfo
  const bucket = readS3Url(`s3://contents?endpoint=http://127.0.0.1:${port}&region=us-east-1`)
  if (!bucket) throw new Error('The URL is malformed')
  const store = await openBlobStore({ driver: 's3', ...bucket, directory, isShared: false })
  return { store, connections: () => connections }
}

// Open files are counted in /proc, which only Linux has.
test.skipIf(process.platform !== 'linux')(
  'an upload that a bucket refuses or breaks off leaves no file open',
  async () => {
    const directory = await newFolder()
    let requests = 0
    const { store } = await openBucketOf(directory, (request, response) => {
      requests += 1
      if (requests % 2 === 0) return void request.once('data', () => request.destroy())
      request.once('data', () => request.pause())
      response.writeHead(500).end()
    })
    await expect(store.put(streamOf(randomBytes(8_000_000)), limits)).rejects.toThrow()
    expect(requests).toBeGreaterThan(1)
    await vi.waitFor(async () => expect(await openFiles(directory)).toEqual([]))
    expect(await readdir(directory)).toEqual([])
  },
)

const openFiles = async (directory: string): Promise<string[]> => {
  const paths = (await readdir('/proc/self/fd')).map((name) => readlink(`/proc/self/fd/${name}`))
  const open = await Promise.all(paths.map((path) => path.catch(() => '')))
  return open.filter((path) => path.startsWith(directory))
}

test('an upload gives its connection back where the answer comes before the end of its stream', {
  tags: 'full',
}, async () => {
  const { store, connections } = await openBucketOf(await newFolder(), (request, response) => {
    let left = Number(request.headers['content-length'])
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length
      if (left === 0) response.writeHead(200, { 'content-length': 0 }).end()
    })
  })
  // Keeps the threads that read files occupied: the end of a stream is read later than the answer comes.
  let isBusy = true
  const occupy = (): void => {
    if (isBusy) pbkdf2('', '', 4000, 32, 'sha256', occupy)
  }
  for (let n = 0; n < 8; n++) occupy()
  for (let n = 0; n < 12; n++) await store.put(streamOf(randomBytes(70_000)), limits)
  isBusy = false
  // One may begin before the former has given its connection back.
  expect(connections()).toBeLessThan(5)
})

test('only the user of the server can read the files', async () => {
  const directory = await newFolder()
  const store = await openIn(directory)
  const { sha256: name } = await store.put(Readable.from(['secret']), limits)
  const at = join(name.slice(0, 2), name.slice(2, 4))
  const modeOf = async (path: string) => (await stat(join(directory, path))).mode & 0o777
  expect(await modeOf(join(at, name))).toBe(0o600)
  for (const path of ['tmp', name.slice(0, 2), at]) expect(await modeOf(path)).toBe(0o700)
})

test('a content is not visible before it is complete', async () => {
  const directory = await newFolder()
  const store = await openIn(directory)
  const source = new Readable({ read() {} })
  source.push('first half, ')
  const work = store.put(source, limits)
  await vi.waitFor(async () => {
    const [name] = await readdir(join(directory, 'tmp'))
    expect((await stat(join(directory, 'tmp', name ?? 'none'))).size).toBe(12)
  })
  expect(await readdir(directory)).toEqual(['tmp'])
  source.push('second half')
  source.push(null)
  expect((await work).sha256).toBe(sha256('first half, second half'))
  expect(await readdir(join(directory, 'tmp'))).toEqual([])
})

test('the start removes what interrupted uploads have left, and no content', async () => {
  const directory = await newFolder()
  const { sha256: name } = await (await openIn(directory)).put(Readable.from(['kept']), limits)
  const leave = async (file: string, at: Date) => {
    await writeFile(join(directory, 'tmp', file), 'half')
    await utimes(join(directory, 'tmp', file), at, at)
  }
  await leave('old', new Date(Date.now() - 3_600_000))
  await leave('new', new Date())
  await openIn(directory, true)
  // Another process may still write the new one.
  expect(await readdir(join(directory, 'tmp'))).toEqual(['new'])
  const store = await openIn(directory)
  expect(await readdir(join(directory, 'tmp'))).toEqual([])
  expect(await store.has(name)).toBe(true)
})

test('a content that is put again counts as new', async () => {
  const directory = await newFolder()
  const store = await openIn(directory)
  const bytes = randomBytes(1000)
  const { sha256: name } = await store.put(streamOf(bytes), limits)
  const long = new Date(Date.now() - 90 * 3_600_000)
  await utimes(join(directory, name.slice(0, 2), name.slice(2, 4), name), long, long)
  await store.put(streamOf(bytes), limits)
  for await (const each of store.list())
    expect(each.modifiedAt.getTime()).toBeGreaterThan(Date.now() - 3_600_000)
})

test('foreign files in the folder are not listed', async () => {
  const directory = await newFolder()
  const store = await openIn(directory)
  const { sha256: name } = await store.put(Readable.from(['mine']), limits)
  await writeFile(join(directory, 'README'), 'x')
  await mkdir(join(directory, 'lost+found'))
  await writeFile(join(directory, name.slice(0, 2), name.slice(2, 4), `${name}.bak`), 'x')
  const found: string[] = []
  for await (const each of store.list()) found.push(each.sha256)
  expect(found).toEqual([name])
})

test('when the disk is full the failure says so and the space comes back', async () => {
  const directory = await newFolder()
  const store = await openIn(directory)
  // A source that fails as the disk does would be an upload that broke off, so the disk itself must be full.
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  const probe = await (await import('node:fs/promises')).open(join(directory, 'probe'), 'w')
  const handle = Object.getPrototypeOf(probe) as { appendFile: unknown }
  const { appendFile } = handle
  await probe.close()
  handle.appendFile = () => Promise.reject(full)
  const work = store.put(Readable.from(['x']), limits).finally(() => {
    handle.appendFile = appendFile
  })
  await expect(work).rejects.toMatchObject({ code: 'INTERNAL_ERROR', details: [{ code: 'disk_full' }] })
  expect(await readdir(join(directory, 'tmp'))).toEqual([])
  expect((await store.put(Readable.from(['x']), limits)).size).toBe(1)
})
