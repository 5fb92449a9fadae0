import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BlobStore, ListedBlob } from '../../src/engine/storage/blobs/blob-store.ts'
import { DomainError } from '../../src/foundation/errors.ts'

const MB = 1024 * 1024
export const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')

/** A stream of `bytes` in chunks, without buffering them twice. */
export const streamOf = (bytes: Uint8Array, chunk = 64 * 1024): Readable =>
  Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk)
    })(),
    { objectMode: false },
  )

/** A stream that fails after some chunks, like the body of a client that disconnects. */
const brokenStream = (bytes: Uint8Array): Readable => {
  const source = new Readable({ read() {} })
  source.push(bytes)
  setImmediate(() => source.destroy(new Error('aborted')))
  return source
}

async function failureOf(work: Promise<unknown>): Promise<DomainError> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(thrown instanceof DomainError)) throw new Error('It did not fail as it should', { cause: thrown })
  return thrown
}

const codeOf = async (work: Promise<unknown>) => (await failureOf(work)).details[0]?.code

async function all(list: AsyncIterable<ListedBlob>): Promise<ListedBlob[]> {
  const found: ListedBlob[] = []
  for await (const each of list) found.push(each)
  return found
}

/** The tests that every driver of the content storage must pass. */
export function blobSuite(open: () => Promise<{ store: BlobStore; close(): Promise<void> }>): void {
  let store: BlobStore
  let close: () => Promise<void>
  beforeAll(async () => {
    ;({ store, close } = await open())
  })
  afterAll(() => close())

  const limits = { maxBytes: 64 * MB }
  const put = (bytes: Uint8Array) => store.put(streamOf(bytes), limits)

  test('a content is read back as it was put, whatever its size', async () => {
    for (const size of [0, 1, 64 * 1024, 3 * MB + 7, 21 * MB + 1]) {
      const bytes = randomBytes(size)
      const stored = await put(bytes)
      expect(stored).toEqual({ sha256: sha256(bytes), size })
      expect((await buffer(await store.open(stored.sha256))).equals(bytes)).toBe(true)
    }
  })

  test('a range has its first and its last byte', async () => {
    const bytes = randomBytes(500_000)
    const { sha256: name } = await put(bytes)
    for (const [start, end] of [
      [0, 0],
      [1, 4],
      [499_999, 499_999],
      [100, 400_000],
    ] as const)
      expect(
        (await buffer(await store.open(name, { start, end }))).equals(bytes.subarray(start, end + 1)),
      ).toBe(true)
  })

  test('a refused content leaves nothing, and its stream stays open', async () => {
    const bytes = randomBytes(100_001)
    const source = streamOf(bytes, 1000)
    expect(await codeOf(store.put(source, { maxBytes: 10_000 }))).toBe('too_large')
    expect(source.destroyed).toBe(false)
    expect(await codeOf(store.put(streamOf(bytes), { ...limits, sha256: sha256('other') }))).toBe(
      'digest_mismatch',
    )
    expect(await codeOf(store.put(brokenStream(bytes), limits))).toBe('upload_aborted')
    expect(await store.has(sha256(bytes))).toBe(false)
    expect((await all(store.list())).map((each) => each.sha256)).not.toContain(sha256(bytes))
    const exact = await store.put(streamOf(bytes), { maxBytes: 100_001, sha256: sha256(bytes) })
    expect(exact.size).toBe(100_001)
  })

  test('a content that is to be held is returned and not stored, up to its limit', async () => {
    const held = { ...limits, inMemoryBytes: 1000 }
    for (const size of [999, 1000]) {
      const bytes = randomBytes(size)
      const stored = await store.put(streamOf(bytes, 300), held)
      expect(stored).toEqual({ sha256: sha256(bytes), size, bytes })
      expect(await store.has(stored.sha256)).toBe(false)
    }
    const more = randomBytes(1001)
    const { sha256: name, bytes: returned } = await store.put(streamOf(more, 300), held)
    expect(returned).toBeUndefined()
    expect((await buffer(await store.open(name))).equals(more)).toBe(true)
    const kept = await store.put(streamOf(more, 300), { ...held, keepBytes: 2000 })
    expect(kept.bytes?.equals(more)).toBe(true)
    const few = randomBytes(10)
    expect(await codeOf(store.put(streamOf(few), { ...held, sha256: sha256('other') }))).toBe(
      'digest_mismatch',
    )
    expect(await codeOf(store.put(streamOf(few), { ...held, maxBytes: 9 }))).toBe('too_large')
    expect(await codeOf(store.put(brokenStream(few), held))).toBe('upload_aborted')
    expect(await store.has(sha256(few))).toBe(false)
    const empty = await store.put(streamOf(Buffer.alloc(0)), held)
    expect(empty).toEqual({ sha256: sha256(''), size: 0, bytes: Buffer.alloc(0) })
  })

  test('a content that is to be held is refused while it arrives, and its stream stays open', async () => {
    const held = { ...limits, inMemoryBytes: 1000 }
    const source = streamOf(randomBytes(5000), 100)
    expect(await codeOf(store.put(source, { ...held, maxBytes: 500 }))).toBe('too_large')
    expect(source.destroyed).toBe(false)
    const gone = new AbortController()
    const endless = new Readable({ read() {} })
    endless.push('never ends')
    const work = codeOf(store.put(endless, { ...held, signal: gone.signal }))
    setImmediate(() => gone.abort())
    expect(await work).toBe('upload_aborted')
    const closed = new Readable({ read() {} })
    closed.push('never ends')
    closed.destroy()
    expect(await codeOf(store.put(closed, held))).toBe('upload_aborted')
  })

  test('an upload ends when its signal does', async () => {
    const gone = new AbortController()
    const source = new Readable({ read() {} })
    source.push('never ends')
    const work = codeOf(store.put(source, { ...limits, signal: gone.signal }))
    setImmediate(() => gone.abort())
    expect(await work).toBe('upload_aborted')
    expect(source.destroyed).toBe(true)
    expect(await store.has(sha256('never ends'))).toBe(false)
  })

  test('many uploads of one content at once give one content', async () => {
    const bytes = randomBytes(200_000)
    const stored = await Promise.all(Array.from({ length: 16 }, () => put(bytes)))
    expect(new Set(stored.map((each) => each.sha256))).toEqual(new Set([sha256(bytes)]))
    expect((await all(store.list())).filter((each) => each.sha256 === sha256(bytes))).toHaveLength(1)
    expect((await buffer(await store.open(sha256(bytes)))).equals(bytes)).toBe(true)
  })

  test('a removed content is gone, and removing it again is no failure', async () => {
    const { sha256: name } = await put(randomBytes(100))
    expect(await store.has(name)).toBe(true)
    await store.remove(name)
    await store.remove(name)
    expect(await store.has(name)).toBe(false)
    expect((await failureOf(store.open(name))).code).toBe('INTERNAL_ERROR')
  })

  test('the list is in the order of digests and goes on after one', async () => {
    for (let made = 0; made < 20; made++) await put(randomBytes(10 + made))
    const found = await all(store.list())
    const names = found.map((each) => each.sha256)
    expect(names.length).toBeGreaterThanOrEqual(20)
    expect(names).toEqual([...names].sort())
    for (const { size, modifiedAt } of found) {
      expect(size).toBeGreaterThanOrEqual(0)
      expect(Math.abs(Date.now() - modifiedAt.getTime())).toBeLessThan(600_000)
    }
    for (const at of [0, 7, names.length - 1])
      expect((await all(store.list(names[at]))).map((each) => each.sha256)).toEqual(names.slice(at + 1))
  })

  test('a name that is no digest reaches nothing', async () => {
    for (const name of [
      '',
      '../../etc/passwd',
      'A'.repeat(64),
      `${'a'.repeat(63)}/`,
      'a'.repeat(65),
      `${'a'.repeat(63)}\n`,
    ]) {
      await expect((async () => store.open(name))()).rejects.toThrow(RangeError)
      await expect((async () => store.has(name))()).rejects.toThrow(RangeError)
      await expect((async () => store.remove(name))()).rejects.toThrow(RangeError)
    }
  })
}
