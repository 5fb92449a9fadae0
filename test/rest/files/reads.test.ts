import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { filesIn, sha256 } from '../../support/files.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/file-types/docs', {}), 201)
})
afterAll(() => world.close())
const { put, get, list, pathsOf, newType } = filesIn(() => world)

describe('a request for a file', () => {
  test('names what it asks for, and nothing that does not belong to it', async () => {
    await put('q.txt', 'q')
    expectFault(await get('q.txt?metta=1'), 'query/metta')
    expectFault(await get('q.txt?meta=1&limit=2'), 'query/limit')
    expectFault(await get('q.txt?from=1'), 'query/from')
    expectFault(await get('q.txt?diff&from=1'), 'query/to')
    expectFault(await get('q.txt', { 'if-match': '"x"' }), 'header/If-Match')
  })

  test('gets the range that it asks for', async () => {
    await put('range.txt', '0123456789')
    for (const [range, text, shown] of [
      ['bytes=0-2', '012', '0-2'],
      ['bytes=8-', '89', '8-9'],
      ['bytes=-3', '789', '7-9'],
      ['bytes=5-99', '56789', '5-9'],
      ['bytes = 1 - 3', '123', '1-3'],
    ] as const) {
      const part = await get('range.txt', { range })
      expect([part.status, part.text, part.headers.get('content-range')]).toEqual([
        206,
        text,
        `bytes ${shown}/10`,
      ])
      expect(part.headers.get('content-length')).toBe(String(text.length))
    }
    for (const range of ['bytes=10-', 'bytes=-0', 'bytes=20-30']) {
      const past = await get('range.txt', { range })
      expectFault(past, 'header/Range')
      expect(past.headers.get('content-range')).toBe('bytes */10')
    }
    for (const headers of [{ range: 'lines=1-2' }, { range: 'bytes=0-1', 'if-range': '"other"' }])
      expect((await get('range.txt', headers)).text).toBe('0123456789')
  })

  test('with the ETag that it has is 304', async () => {
    await put('tag.txt', 'one')
    const same = await get('tag.txt', { 'if-none-match': `"${sha256('one')}"` })
    expect([same.status, same.text]).toEqual([304, ''])
    expect((await get('tag.txt', { 'if-none-match': `"${sha256('two')}"` })).text).toBe('one')
  })

  test('for a difference gets a unified diff of texts, and digests of other contents', async () => {
    for (const text of ['roses\nare\nred\n', 'roses\nare\nblue\n', 'a\u0000b']) await put('d.txt', text)
    const { diff, ...compared } = succeed(await get('d.txt?diff&from=1&to=2'))
    expect(compared).toMatchObject({ from: { version: 1, size: 14 }, to: { version: 2 }, binary: false })
    expect(diff).toContain('\n roses\n are\n-red\n+blue\n')
    expect(succeed(await get('d.txt?diff&from=2&to=1')).diff).toContain('-blue\n+red')
    expect(succeed(await get('d.txt?diff&from=2&to=3'))).toMatchObject({ binary: true, diff: null })
    expectFailure(await get('d.txt?diff&from=1&to=9'), 'NOT_FOUND')
  })

  test('for a difference of long texts with nothing in common fails, and others go on', {
    tags: 'full',
  }, async () => {
    const lines = (of: string) => times(20_000, (n) => `${of} ${n}`).join('\n')
    for (const word of ['one', 'two']) await put('far.txt', lines(word))
    const compared = get('far.txt?diff&from=1&to=2')
    expect(succeed(await get('far.txt?meta=1')).version).toBe(2)
    expectFailure(await compared, 'VALIDATION_ERROR')
  })
})

describe('a list of files', () => {
  beforeAll(async () => {
    await newType('tree', {})
    for (const path of ['a_b/1', 'axb/2', 'r/a', 'r/s/b', 'r/s/t/c', 'r/s.x', 'r/s0', 'z'])
      succeed(await put(path, path, {}, 'tree'), 201)
  })

  test('has the files below a literal prefix, in the order of their paths', async () => {
    expect(pathsOf(await list('prefix=a_b/', 'tree'))).toEqual(['a_b/1'])
    expect(pathsOf(await list('prefix=r/s', 'tree'))).toEqual(['r/s.x', 'r/s/b', 'r/s/t/c', 'r/s0'])
    expect(pathsOf(await list('prefix=none', 'tree'))).toEqual([])
    expect((await list('prefix=z', 'tree')).data).toMatchObject([{ kind: 'file', size: 1, version: 1 }])
  })

  test('with a depth has folders in place of the files below it', async () => {
    const level = async (query: string) =>
      (await list(query, 'tree')).data.map(({ kind, path }: Body) => `${kind} ${path}`)
    expect(await level('depth=1')).toEqual(['folder a_b/', 'folder axb/', 'folder r/', 'file z'])
    expect(await level('depth=1&prefix=r/')).toEqual(['file r/a', 'file r/s.x', 'folder r/s/', 'file r/s0'])
    expect(await level('depth=2&prefix=r/')).toEqual([
      'file r/a',
      'file r/s.x',
      'file r/s/b',
      'folder r/s/t/',
      'file r/s0',
    ])
    expect((await list('depth=1', 'tree')).data[0]).toEqual({ kind: 'folder', path: 'a_b/' })
    for (const depth of ['0', '-1', 'x'])
      expectFault(await world.call('GET', `/v1/crm/files/tree?depth=${depth}`), 'query/depth')
  })

  test.each(['', '&depth=1', '&depth=2'])(
    'has pages that add up, by offset and by cursor%s',
    async (depth) => {
      const whole = await list(`limit=100&include_total=true${depth}`, 'tree')
      expect(whole.meta).toMatchObject({ total: whole.data.length, has_more: false })
      const byOffset = []
      const byCursor = []
      for (let offset = 0, cursor = ''; ; offset += 3) {
        const next = await list(`limit=3&offset=${offset}${depth}`, 'tree')
        const same = await list(`limit=3${depth}${cursor && `&cursor=${cursor}`}`, 'tree')
        byOffset.push(...next.data)
        byCursor.push(...same.data)
        cursor = same.meta.next_cursor
        expect(next.meta.has_more).toBe(same.meta.has_more)
        if (!next.meta.has_more) break
      }
      expect(byOffset).toEqual(whole.data)
      expect(byCursor).toEqual(whole.data)
    },
  )
})
