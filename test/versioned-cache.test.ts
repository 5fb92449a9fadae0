import { expect, test } from 'vitest'
import { VersionedCache } from '../src/foundation/versioned-cache.ts'

test('a key holds the value of its latest version alone', () => {
  const cache = new VersionedCache<{ name: string }>(100)
  cache.set('base', '1', { name: 'first' }, 60)
  cache.set('other', '1', { name: 'other' }, 30)
  for (let version = 2; version < 20; version++)
    cache.set('base', String(version), { name: `of ${version}` }, 60)
  expect(cache.get('base', '18')).toBeUndefined()
  expect(cache.get('base', '19')).toEqual({ name: 'of 19' })
  // The earlier versions took no room, so nothing else was evicted.
  expect(cache.get('other', '1')).toEqual({ name: 'other' })
})

test('the size of all values is bounded in characters', () => {
  const cache = new VersionedCache<object>(100)
  for (const key of ['a', 'b', 'c']) cache.set(key, '1', {}, 40)
  expect(['a', 'b', 'c'].map((key) => cache.get(key, '1') !== undefined)).toEqual([false, true, true])
})

test('a recent value is one whose version was just seen', () => {
  const cache = new VersionedCache<object>(100)
  const value = {}
  cache.set('base', '1', value, 1)
  expect(cache.recent('base', 60_000)).toBe(value)
  expect(cache.recent('base', -1)).toBeUndefined()
  expect(cache.recent('other', 60_000)).toBeUndefined()
})

test('requests for a version at the same time share its making, but not a failure of it', async () => {
  const cache = new VersionedCache<{ n: number }>(100)
  let made = 0
  const make = async () => {
    const n = ++made
    await Promise.resolve()
    if (n === 1) throw new Error('cancelled')
    return { value: { n }, chars: 1 }
  }
  const ask = (version: string) => cache.of('base', version, make)
  const [first, second, third] = await Promise.allSettled([ask('1'), ask('1'), ask('2')])
  expect(first.status).toBe('rejected')
  expect([second, third].map((each) => each.status)).toEqual(['fulfilled', 'fulfilled'])
  const [one, other] = await Promise.all([ask('3'), ask('3')])
  expect(one).toBe(other)
  expect(await ask('3')).toBe(one)
  expect(made).toBe(4)
})
