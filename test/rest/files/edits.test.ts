import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LIMITS } from '../../../src/foundation/limits.ts'
import { expectDetail, succeed, times } from '../../support/answers.ts'
import { putFile, sha256 } from '../../support/files.ts'
import { callTool } from '../../support/mcp.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/file-types/docs', {}), 201)
  succeed(await world.call('PUT', '/v1/crm/file-types/kept', { storage: { immutable: true } }), 201)
  succeed(await world.call('PUT', '/v1/crm/file-types/small', { storage: { max_bytes: 10 } }), 201)
})
afterAll(() => world.close())

const at = (path: string, type = 'docs') => `/v1/crm/files/${type}/${path}`
const put = async (path: string, content: string, headers = {}, type = 'docs') =>
  succeed(await putFile(world.call, type, path, content, headers), 201)
const patch = (path: string, body: object, headers = {}, type = 'docs') =>
  world.call('PATCH', at(path, type), body, headers)
const textOf = async (path: string, type = 'docs') => (await world.call('GET', at(path, type))).text
const versionOf = async (path: string) => succeed(await world.call('GET', `${at(path)}?meta=1`)).version

describe('edits of a text', () => {
  test('are made one after another, and are a new version with its own label', async () => {
    await put('a.txt', 'one two two', { 'x-service-label': 'first', 'x-file-metadata': '{"n":1}' })
    const edits = [
      { find: 'one', replace: 'three' },
      { find: 'three', replace: '3' },
      { find: 'two', replace: 'zwei', all: true },
    ]
    const answer = await patch('a.txt', { edits })
    expect(succeed(answer)).toMatchObject({
      ...{ version: 2, operation: 'updated', metadata: { n: 1 }, label: null, content_type: 'text/plain' },
      content_sha256: sha256('3 zwei zwei'),
    })
    expect(answer.headers.get('etag')).toBe(`"${sha256('3 zwei zwei')}"`)
    expect(await textOf('a.txt')).toBe('3 zwei zwei')
    const { data } = succeed(await world.call('GET', `${at('a.txt')}?history`))
    expect(data.map(({ version, label }: Body) => [version, label])).toEqual([
      [2, null],
      [1, 'first'],
    ])
  })

  test('that change nothing make no version', async () => {
    await put('same.txt', 'a b')
    expect(succeed(await patch('same.txt', { edits: [{ find: 'a', replace: 'a' }] }))).toMatchObject({
      operation: 'unchanged',
      version: 1,
    })
  })

  test('are refused where the text to find is absent or not unique, and nothing changes', async () => {
    await put('b.txt', 'x y x')
    const missing = await patch('b.txt', {
      edits: [
        { find: 'y', replace: 'z' },
        { find: 'y', replace: 'w' },
      ],
    })
    expectDetail(missing, 409, { path: '/edits/1/find', code: 'text_not_found' })
    expectDetail(await patch('b.txt', { edits: [{ find: 'x', replace: 'z' }] }), 409, {
      path: '/edits/0/find',
      code: 'text_not_unique',
    })
    expect(await textOf('b.txt')).toBe('x y x')
    expect(await versionOf('b.txt')).toBe(1)
  })

  test('take lines that end in LF for those of a text with CRLF', async () => {
    await put('crlf.txt', 'one\r\ntwo\r\nthree\r\n')
    succeed(await patch('crlf.txt', { edits: [{ find: 'one\ntwo', replace: 'uno\ndos' }] }))
    expect(await textOf('crlf.txt')).toBe('uno\r\ndos\r\nthree\r\n')
  })

  test('insert their text as it is', async () => {
    await put('dollar.txt', 'price: X')
    succeed(await patch('dollar.txt', { edits: [{ find: 'X', replace: "$& $1 $'" }] }))
    expect(await textOf('dollar.txt')).toBe("price: $& $1 $'")
  })
})

describe('a unified diff', () => {
  const PATCH = '@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n'

  test('is applied, also where the lines have moved', { tags: 'full' }, async () => {
    await put('c.txt', 'one\ntwo\nthree\n')
    expect(succeed(await patch('c.txt', { patch: PATCH, label: 'patched' }))).toMatchObject({
      label: 'patched',
    })
    expect(await textOf('c.txt')).toBe('one\nTWO\nthree\n')
    await put('moved.txt', 'zero\nzero\none\ntwo\nthree\n')
    succeed(await patch('moved.txt', { patch: `--- a/moved.txt\n+++ b/moved.txt\n${PATCH}` }))
    expect(await textOf('moved.txt')).toBe('zero\nzero\none\nTWO\nthree\n')
  })

  test('between two versions makes the one of the other', async () => {
    await put('d.txt', 'a\nb\nc\n')
    succeed(await putFile(world.call, 'docs', 'd.txt', 'a\nB\nc\nd'))
    const { diff } = succeed(await world.call('GET', `${at('d.txt')}?diff&from=1&to=2`))
    await put('e.txt', 'a\nb\nc\n')
    succeed(await patch('e.txt', { patch: diff }))
    expect(await textOf('e.txt')).toBe('a\nB\nc\nd')
  })

  test('that does not fit is 409, and one that is malformed or of several files 400', async () => {
    await put('f.txt', 'another\ntext\n')
    expectDetail(await patch('f.txt', { patch: PATCH }), 409, { path: '/patch', code: 'patch_mismatch' })
    for (const bad of [
      '',
      'hello',
      '@@ -1,3 +1,3 @@\n one\n',
      `--- a\n+++ a\n${PATCH}--- b\n+++ b\n${PATCH}`,
    ])
      expectDetail(await patch('f.txt', { patch: bad }), 400, { path: '/patch', code: 'malformed' })
    expect(await textOf('f.txt')).toBe('another\ntext\n')
  })

  test('is applied where its line numbers are beyond the text', { tags: 'full' }, async () => {
    for (const line of [4, 2_000_000_000, '9'.repeat(30)]) {
      const path = `beyond-${line}.txt`
      await put(path, 'a\nb\nc\n')
      succeed(await patch(path, { patch: `@@ -${line},1 +${line},1 @@\n-a\n+x\n` }))
      expect(await textOf(path)).toBe('x\nb\nc\n')
    }
  })

  test('changes each line once, whatever lines its hunks name', async () => {
    await put('twice.txt', 'a\nb\na\nc\n')
    const hunk = (line: number) => `@@ -${line},1 +${line},1 @@\n-a\n+x\n`
    for (const hunks of [hunk(1).repeat(3), hunk(9).repeat(3), hunk(3) + hunk(1)])
      expectDetail(await patch('twice.txt', { patch: hunks }), 409, { code: 'patch_mismatch' })
    for (const [index, hunks] of [hunk(1) + hunk(1), hunk(1) + hunk(9)].entries()) {
      const path = `twice-${index}.txt`
      await put(path, 'a\nb\na\nc\n')
      succeed(await patch(path, { patch: hunks }))
      expect(await textOf(path)).toBe('x\nb\nx\nc\n')
    }
  })

  test('of very many lines is refused before it costs time', { tags: 'full' }, async () => {
    await put('many.txt', '\n'.repeat(100_000))
    const lines = ' \n'.repeat(1000)
    const answer = await patch('many.txt', { patch: `@@ -1,1001 +1,1000 @@\n${lines}-x\n` })
    expectDetail(answer, 400, { path: '/patch', code: 'too_complex' })
    await put('one.txt', 'a\n')
    const hunks = '@@ -1,1 +1,1 @@\n-a\n+b\n'.repeat(LIMITS.patchLines / 3 + 1)
    for (const long of [hunks, '\n'.repeat(LIMITS.patchLines + 1)])
      expectDetail(await patch('one.txt', { patch: long }), 400, { path: '/patch', code: 'too_complex' })
    expect(await textOf('one.txt')).toBe('a\n')
  })
})

describe('an edit', () => {
  test('holds to If-Match, the policy of the type, and the kind of the content', {
    tags: 'full',
  }, async () => {
    await put('g.txt', 'one')
    const edits = [{ find: 'one', replace: 'two' }]
    const stale = await patch('g.txt', { edits }, { 'if-match': `"${sha256('other')}"` })
    expectDetail(stale, 409, { path: 'header/If-Match', code: 'content_mismatch' })
    await put('h.txt', 'one', {}, 'kept')
    expectDetail(await patch('h.txt', { edits }, {}, 'kept'), 409, { path: 'path/path', code: 'immutable' })
    await put('i.txt', 'one', {}, 'small')
    const long = [{ find: 'one', replace: '12345678901' }]
    expectDetail(await patch('i.txt', { edits: long }, {}, 'small'), 400, { path: '', code: 'too_large' })
    await put('j.bin', 'one\u0000')
    expectDetail(await patch('j.bin', { edits }), 400, { path: 'path/path', code: 'not_text' })
    expect(await patch('absent.txt', { edits })).toMatchObject({ status: 404 })
  })

  test('is sent in one way, and not with a move', async () => {
    await put('k.txt', 'one')
    const edits = [{ find: 'one', replace: 'two' }]
    expectDetail(await patch('k.txt', { edits, patch: 'x' }), 400, { path: '/patch', code: 'exclusive' })
    expectDetail(await patch('k.txt', { edits, path: 'l.txt' }), 400, { path: '/path', code: 'exclusive' })
    for (const bad of [
      [],
      [{ find: '', replace: '' }],
      [{ find: 'x' }],
      [{ find: 'x', replace: 1 }],
      'x',
      null,
    ])
      expect((await patch('k.txt', { edits: bad })).status).toBe(400)
  })

  test('cannot grow a text without bound', async () => {
    await put('bomb.txt', 'a'.repeat(100_000))
    const answer = await patch('bomb.txt', {
      edits: [{ find: 'a', replace: 'b'.repeat(100_000), all: true }],
    })
    expectDetail(answer, 400, { path: '/edits/0', code: 'too_large' })
  })

  test('with dry_run shows its result and stores nothing', async () => {
    await put('m.txt', 'one')
    const edits = [{ find: 'one', replace: 'two' }]
    const tried = await world.call('PATCH', `${at('m.txt')}?dry_run=true`, { edits })
    expect(succeed(tried)).toMatchObject({ version: 2, dry_run: true })
    expect(await textOf('m.txt')).toBe('one')
  })

  test('of many writers at once is lost by none', { tags: 'full' }, async () => {
    await put('race.txt', times(3, (i) => `<${i}>`).join('\n'))
    const answers = await Promise.all(
      times(3, (i) => patch('race.txt', { edits: [{ find: `<${i}>`, replace: `[${i}]` }] })),
    )
    const done = answers.filter(({ status }) => status === 200).length
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
    expect((await textOf('race.txt')).match(/\[\d\]/g)).toHaveLength(done)
    expect(await versionOf('race.txt')).toBe(1 + done)
  })
})

describe('lines', () => {
  const lines = async (path: string, range: string) =>
    succeed(await world.call('GET', `${at(path)}?lines=${range}`))

  test('are read by range, with the number of all', async () => {
    await put('n.txt', 'one\ntwo\nthree')
    expect(await lines('n.txt', '2-')).toMatchObject({
      text: 'two\nthree',
      from: 2,
      to: 3,
      lines: 3,
      has_more: false,
    })
    expect(await lines('n.txt', '2')).toMatchObject({ text: 'two\n', from: 2, to: 2, has_more: false })
    expect(await lines('n.txt', '1-99')).toMatchObject({ text: 'one\ntwo\nthree', path: 'n.txt', version: 1 })
    for (const bad of ['0-1', '4-', '2-1'])
      expectDetail(await world.call('GET', `${at('n.txt')}?lines=${bad}`), 400, { path: 'query/lines' })
    for (const bad of ['x', '-2', '1-2-3', ''])
      expectDetail(await world.call('GET', `${at('n.txt')}?lines=${bad}`), 400, { path: 'query/lines' })
    expectDetail(await world.call('GET', `${at('n.txt')}?lines=1&meta=1`), 400, { code: 'exclusive' })
  })

  test('of an empty and of a binary content are none', async () => {
    await put('empty.txt', '')
    expect(await lines('empty.txt', '1-')).toMatchObject({
      text: '',
      from: 0,
      to: 0,
      lines: 0,
      binary: false,
    })
    await put('bin', 'a\n\u0000')
    expect(await lines('bin', '1-')).toMatchObject({ text: null, binary: true })
    await put('latin1', 'x')
    succeed(await world.call('PUT', at('latin1'), new Uint8Array([0x61, 0xff, 0x0a])))
    expect(await lines('latin1', '1-')).toMatchObject({ text: null, binary: true })
  })

  test('far into a large content are found, and a page ends at 1 MiB with a whole line', {
    tags: 'full',
  }, async () => {
    const line = `${'é'.repeat(49)}\n`
    await put('large.txt', line.repeat(60_000))
    expect(await lines('large.txt', '59999-')).toMatchObject({
      text: line.repeat(2),
      from: 59_999,
      to: 60_000,
    })
    const cut = await lines('large.txt', '1-')
    expect(cut).toMatchObject({ has_more: true, lines: null })
    expect(cut.text).toBe(line.repeat(cut.to))
    expect(Buffer.byteLength(cut.text)).toBeGreaterThan(1_000_000)
  })

  test('and contents in a request are base64 by the rule of attachments', async () => {
    for (const base64 of ['***', 'eA', 'e A==']) {
      const args = { file_type: 'docs', path: 'p.bin', base64 }
      const { error } = await callTool(world, '/mcp/crm', 'put_file', args)
      expect(error.details, base64).toMatchObject([{ path: '/base64', code: 'invalid_base64' }])
    }
  })

  test('and edits are the same over GraphQL and MCP', async () => {
    await put('o.txt', 'one\ntwo\n')
    const query = `mutation { patchFile(base: "crm", fileType: "docs", path: "o.txt", edits: [{find: "two", replace: "2"}]) { version } }`
    expect((await world.call('POST', '/graphql', { query })).body.data.patchFile).toEqual({ version: 2 })
    const read = `{ fileText(base: "crm", fileType: "docs", path: "o.txt", from: 2) { text from to lines hasMore } }`
    expect((await world.call('POST', '/graphql', { query: read })).body.data.fileText).toEqual({
      ...{ text: '2\n', from: 2, to: 2, lines: 2, hasMore: false },
    })
    const args = { file_type: 'docs', path: 'o.txt', edits: [{ find: 'no', replace: '' }] }
    const { error } = await callTool(world, '/mcp/crm', 'edit_file', args)
    expect(error).toMatchObject({
      code: 'CONFLICT',
      details: [{ path: '/edits/0/find', code: 'text_not_found' }],
    })
  })
})
