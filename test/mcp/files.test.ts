import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NOTICE } from '../../src/mcp/protocol/result.ts'
import { succeed } from '../support/answers.ts'
import { sha256 } from '../support/files.ts'
import { callTool, connect, DIALECTS, rpc } from '../support/mcp.ts'
import { followWith } from '../support/mcp-following.ts'
import type { Body } from '../support/server.ts'
import { tokensOfTools } from '../support/tokens.ts'
import { lintTool } from '../support/tool-lint.ts'
import { openWorld, type World } from '../support/world.ts'

const AT = '/mcp/crm'
const READS = ['list_files', 'get_file']
const WRITES = ['put_file', 'edit_file', 'move_file', 'delete_file']
let world: World

beforeAll(async () => {
  world = await openWorld()
  await world.newType()
  succeed(await world.call('PUT', '/v1/bases/empty', {}), 201)
  succeed(await world.call('PUT', '/v1/crm/file-types/docs', { name: 'Documents' }), 201)
})
afterAll(() => world.close())

const call = async (name: string, args: object, path = AT) =>
  callTool(world, path, name, { file_type: 'docs', ...args })
const write = async (path: string, text: string, more = {}) =>
  (await call('put_file', { path, text, ...more })).body
const listed = async (path: string, token?: string): Promise<Body[]> =>
  (await rpc(world, path, 'tools/list', {}, token === undefined ? {} : { token })).body.result.tools
const namesOf = async (path: string, token?: string): Promise<string[]> =>
  (await listed(path, token)).map(({ name }) => name).filter((name) => /_files?$/.test(name))

describe('the file tools', () => {
  test('are listed only where the token sees a file type, within 600 tokens', { tags: 'full' }, async () => {
    expect(await namesOf(AT)).toEqual([...READS, ...WRITES])
    expect(await namesOf('/mcp')).toEqual([...READS, ...WRITES])
    expect(await namesOf('/mcp/crm?readonly=1')).toEqual(READS)
    const tools = (await listed(AT)).filter(({ name }) => [...READS, ...WRITES].includes(name))
    expect(tokensOfTools(tools)).toBeLessThan(600)
    for (const tool of tools) expect(lintTool(tool)).toEqual([])
    for (const path of ['/mcp/empty', '/mcp/crm?profile=lean', '/mcp/crm?types=type1'])
      expect(await namesOf(path), path).toEqual([])
  })

  test('attach a file to a record, as REST does', { tags: 'full' }, async () => {
    succeed(await world.call('PUT', '/v1/crm/records/type1/with', { data: {} }), 201)
    const at = '/v1/crm/records/type1/with/attachments'
    const put = (args: object, send = {}) =>
      callTool(world, AT, 'put_file', { record: 'type1/with', path: 'call.md', ...args }, send)
    const dry = await put({ text: '# Call', dry_run: true })
    expect(dry.body).toMatchObject({ filename: 'call.md', dry_run: true })
    expect(succeed(await world.call('GET', at)).data).toEqual([])
    const { body } = await put({ text: '# Call' })
    expect(body).toMatchObject({ filename: 'call.md', content_type: 'text/plain', size: 6, status: 'ready' })
    expect(body).not.toHaveProperty('upload_url')
    expect(succeed(await world.call('GET', at)).data).toMatchObject([{ id: body.id }])
    const later = await put({ path: 'scan.pdf', content_type: 'application/pdf' })
    expect(later.body).toMatchObject({ status: 'pending', upload_url: expect.any(String) })
    for (const [args, path] of [
      [{ record: 'type1' }, '/record'],
      [{ file_type: 'docs' }, '/file_type'],
      [{ label: 'x' }, '/label'],
    ] as const)
      expect((await put(args)).error.details).toMatchObject([{ path }])
    const nowhere = await callTool(world, AT, 'put_file', { path: 'x', text: 'x' })
    expect(nowhere.error.details).toMatchObject([{ path: '/file_type', code: 'required' }])
    expect((await put({ record: 'type1/absent', text: 'x' })).error.code).toBe('NOT_FOUND')
    const own = await world.newToken([{ record_type: 'type1', permission: 'write' }])
    expect((await put({ text: 'own', path: 'own.md' }, { token: own.token })).body.status).toBe('ready')
    const reader = await world.newToken([{ permission: 'read' }])
    expect((await put({ text: 'x' }, { token: reader.token })).error.code).toBe('FORBIDDEN')
  })

  test('are not listed for a token without a grant on the whole base, which cannot call them', {
    tags: 'full',
  }, async () => {
    const { token } = await world.newToken([{ record_type: 'type1', permission: 'write' }])
    const other = await world.newToken([{ base: 'empty', permission: 'write' }])
    const reader = await world.newToken([{ permission: 'read' }])
    expect(await namesOf(AT, token)).toEqual([])
    expect(await namesOf('/mcp', token)).toEqual([])
    expect(await namesOf('/mcp', other.token)).toEqual([])
    expect(await namesOf(AT, reader.token)).toEqual(READS)
    await write('secret.txt', 'a secret')
    for (const [name, args] of [
      ['get_file', { file_type: 'docs', path: 'secret.txt' }],
      ['get_file', { file_type: 'docs', path: 'absent.txt' }],
      ['list_files', {}],
      ['list_files', { search: 'secret' }],
      ['put_file', { file_type: 'docs', path: 'secret.txt', text: 'mine' }],
    ] as const) {
      const { error } = await callTool(world, AT, name, args, { token })
      expect(error, name).toMatchObject({ code: 'FORBIDDEN' })
      expect(JSON.stringify(error)).not.toContain('secret')
    }
  })

  test('appear with the first file type of a base', { tags: 'full' }, async () => {
    succeed(await world.call('PUT', '/v1/bases/later', {}), 201)
    const client = await connect(world.url, world.adminToken, 'v1', '/mcp/later')
    const names = async () => (await client.listTools()).tools.map(({ name }) => name)
    expect(await names()).not.toContain('get_file')
    succeed(await world.call('PUT', '/v1/later/file-types/notes', {}), 201)
    expect(await names()).toContain('get_file')
    succeed(await world.call('DELETE', '/v1/later/file-types/notes'))
    expect(await names()).not.toContain('get_file')
    await client.close()
  })
})

describe.each(DIALECTS)('a %s client', (dialect) => {
  test('keeps a document as a file', { tags: dialect === 'v1' ? [] : ['full'] }, async () => {
    const client = await connect(world.url, world.adminToken, dialect, AT)
    const path = `${dialect}/plan.md`
    const at = { file_type: 'docs', path }
    const run = async (name: string, args: object) =>
      (await client.callTool({ name, arguments: { ...at, ...args } })) as Body
    await run('put_file', { text: '# Plan\n\n- one\n- two\n', content_type: 'text/markdown' })
    const edited = await run('edit_file', {
      edits: [{ find: '- two', replace: '- three' }],
      expected_version: 1,
    })
    expect(edited['structuredContent']).toMatchObject({
      version: 2,
      content_type: 'text/markdown',
      operation: 'updated',
    })
    const read = await run('get_file', {})
    expect(read['structuredContent']).toMatchObject({
      text: '# Plan\n\n- one\n- three\n',
      from: 1,
      to: 4,
      lines: 4,
    })
    expect(read['content'][0].text.startsWith(NOTICE)).toBe(true)
    await run('move_file', { new_path: `${dialect}/old.md` })
    expect((await run('get_file', {}))['isError']).toBe(true)
    const gone = await run('delete_file', { path: `${dialect}/old.md` })
    expect(gone['structuredContent']).toEqual({ id: `${dialect}/old.md`, deleted: true })
    await client.close()
  })
})

describe('list_files', () => {
  test('lists file types, files and folders, page by page', async () => {
    for (const path of ['l/a.txt', 'l/b/c.txt', 'l/d.txt']) await write(path, path)
    const types = (await callTool(world, AT, 'list_files', {})).body
    expect(types.data).toMatchObject([{ file_type: 'docs', name: 'Documents' }])
    const files = (await call('list_files', { prefix: 'l/', limit: 2 })).body
    expect(files.data.map(({ path }: Body) => path)).toEqual(['l/a.txt', 'l/b/c.txt'])
    const rest = (await call('list_files', { prefix: 'l/', limit: 2, cursor: files.meta.next_cursor })).body
    expect(rest.data.map(({ path }: Body) => path)).toEqual(['l/d.txt'])
    const folders = (await call('list_files', { prefix: 'l/', depth: 1 })).body
    expect(folders.data.map(({ kind, path }: Body) => [kind, path])).toEqual([
      ['file', 'l/a.txt'],
      ['folder', 'l/b/'],
      ['file', 'l/d.txt'],
    ])
    expect((await callTool(world, AT, 'list_files', { prefix: 'l/' })).error.details[0].path).toBe('/prefix')
  })

  test('finds words in all file types, with snippets', async () => {
    await write('found/ode.txt', 'The nightingale sings.')
    const { body } = await callTool(world, AT, 'list_files', { search: 'nightingal' })
    expect(body.data).toMatchObject([
      { file_type: 'docs', path: 'found/ode.txt', _snippets: [{ field: 'text', matches: ['nightingale'] }] },
    ])
  })
})

describe('get_file', () => {
  test('returns lines and says how to go on where they exceed the tokens', { tags: 'full' }, async () => {
    const lines = Array.from({ length: 2000 }, (_, i) => `"line" ${i + 1}\n`)
    await write('long.txt', lines.join(''))
    let text = ''
    for (let next = '1-', calls = 0; next !== ''; calls++) {
      expect(calls).toBeLessThan(100)
      const { body, result } = await call('get_file', { path: 'long.txt', lines: next, max_tokens: 1000 })
      expect(Buffer.byteLength(result.content[0].text)).toBeLessThanOrEqual(4000)
      expect(body.text.endsWith('\n')).toBe(true)
      expect(result.content[1]).toMatchObject({
        type: 'resource_link',
        uri: 'plinth://crm/files/docs/long.txt',
      })
      text += body.text
      next = body.has_more ? (/"(\d+-)"/.exec(body.hint)?.[1] ?? 'none') : ''
    }
    expect(text).toBe(lines.join(''))
    const some = (await call('get_file', { path: 'long.txt', lines: '3-4' })).body
    expect(some).toMatchObject({ text: '"line" 3\n"line" 4\n', from: 3, to: 4, lines: 2000, has_more: false })
    expect((await call('get_file', { path: 'long.txt', lines: '3000-' })).error.details[0]).toMatchObject({
      path: '/lines',
      code: 'range_not_satisfiable',
    })
    expect((await call('get_file', { path: 'long.txt', lines: 'all' })).error.details[0].path).toBe('/lines')
  })

  test('cuts a line that is longer than the tokens by itself', { tags: 'full' }, async () => {
    await write('wide.txt', 'é"'.repeat(50_000))
    const { body, result } = await call('get_file', { path: 'wide.txt', max_tokens: 1000 })
    expect(Buffer.byteLength(result.content[0].text)).toBeLessThanOrEqual(4000)
    expect(body.text.length).toBeGreaterThan(500)
    expect(body.text).toMatch(/^(é")+é?$/)
    expect(body).toMatchObject({ from: 1, to: 1, has_more: true })
    expect(body.hint).toBe('Line 1 is cut. Send a larger max_tokens, or download the file over REST.')
    await write('wide.txt', `${'wide '.repeat(2000)}\nnarrow\n`)
    const { hint } = (await call('get_file', { path: 'wide.txt', max_tokens: 1000 })).body
    expect(hint).toMatch(/ lines: "2-" goes on after it\.$/)
    expect((await call('get_file', { path: 'wide.txt', lines: '2-' })).body.text).toBe('narrow\n')
  })

  test('links to a content that is no text', async () => {
    const base64 = Buffer.from([137, 80, 78, 71, 0, 255]).toString('base64')
    await call('put_file', { path: 'logo.png', base64, content_type: 'image/png' })
    const { body, result } = await call('get_file', { path: 'logo.png' })
    expect(body).toMatchObject({ binary: true, text: null, size: 6 })
    const [, link] = result.content
    expect(link).toEqual({
      type: 'resource_link',
      uri: 'plinth://crm/files/docs/logo.png',
      name: 'logo.png',
      mimeType: 'image/png',
      size: 6,
    })
    const read = await rpc(world, AT, 'resources/read', { uri: link.uri })
    expect(read.body.result.contents).toMatchObject([{ uri: link.uri, mimeType: 'image/png', blob: base64 }])
  })

  test('shows an older version, the history, and the difference of two versions', {
    tags: 'full',
  }, async () => {
    await write('v.txt', 'one\n', { label: 'first' })
    await write('v.txt', 'two\n')
    expect((await call('get_file', { path: 'v.txt', version: 1 })).body).toMatchObject({
      text: 'one\n',
      label: 'first',
    })
    const { data } = (await call('get_file', { path: 'v.txt', history: true })).body
    expect(data.map(({ version, label = null }: Body) => [version, label])).toEqual([
      [2, null],
      [1, 'first'],
    ])
    expect((await call('get_file', { path: 'v.txt', compare: '1-2' })).body.diff).toContain('-one\n+two')
    expect((await call('get_file', { path: 'v.txt', compare: '1' })).error.details[0]).toMatchObject({
      path: '/compare',
    })
    const mixed = (await call('get_file', { path: 'v.txt', history: true, version: 1 })).error.details[0]
    expect(mixed).toMatchObject({ path: '/version', code: 'exclusive' })
    expect((await call('get_file', { path: 'v.txt', history: true, lines: '1' })).error.code).toBe(
      'VALIDATION_ERROR',
    )
  })
})

describe('writes', () => {
  test('are compared and set against a version', async () => {
    await write('cas.txt', 'one')
    expect(
      (await call('put_file', { path: 'cas.txt', text: 'two', expected_version: 2 })).error,
    ).toMatchObject({
      code: 'CONFLICT',
      details: [{ path: '/expected_version', code: 'version_mismatch', expected: 1 }],
    })
    expect((await call('put_file', { path: 'cas.txt', text: 'two', expected_version: 0 })).error.code).toBe(
      'CONFLICT',
    )
    for (const [name, args] of [
      ['edit_file', { edits: [{ find: 'one', replace: 'x' }] }],
      ['move_file', { new_path: 'else.txt' }],
      ['delete_file', {}],
    ] as const)
      expect((await call(name, { path: 'cas.txt', ...args, expected_version: 7 })).error.code, name).toBe(
        'CONFLICT',
      )
    expect((await call('get_file', { path: 'cas.txt' })).body).toMatchObject({ text: 'one', version: 1 })
  })

  test('with dry_run change nothing, and with an idempotency key happen once', async () => {
    const tried = (await call('put_file', { path: 'try.txt', text: 'x', dry_run: true })).body
    expect(tried).toMatchObject({ operation: 'created', dry_run: true, content_sha256: sha256('x') })
    expect((await call('get_file', { path: 'try.txt' })).error.code).toBe('NOT_FOUND')
    await write('once.txt', 'a')
    const edit = { path: 'once.txt', edits: [{ find: 'a', replace: 'aa' }], idempotency_key: 'k1' }
    for (let i = 0; i < 2; i++) expect((await call('edit_file', edit)).body).toMatchObject({ version: 2 })
    expect((await call('get_file', { path: 'once.txt' })).body.text).toBe('aa')
  })

  test('undo a deletion by its entry in the log', { tags: 'full' }, async () => {
    await write('back.txt', 'here')
    await call('delete_file', { path: 'back.txt' })
    const { data } = (await callTool(world, AT, 'changes', { kind: 'file', order: 'desc', limit: 1 })).body
    const planned = (await callTool(world, AT, 'undo', { seq: data[0].seq })).body
    await callTool(world, AT, 'undo', { plan_token: planned.plan_token })
    expect((await call('get_file', { path: 'back.txt' })).body.text).toBe('here')
  })
})

test('get_record shows the attachments of a record with expand', async () => {
  succeed(await world.call('PUT', '/v1/crm/records/type1/r1', { data: {} }), 201)
  const attached = { filename: 'note.txt', content_type: 'text/plain', content: 'A note.' }
  succeed(await world.call('POST', '/v1/crm/records/type1/r1/attachments', attached), 201)
  const { body } = await callTool(world, AT, 'get_record', {
    record_type: 'type1',
    id: 'r1',
    expand: ['attachments'],
  })
  expect(body.data?._expanded ?? body._expanded).toMatchObject({
    attachments: [{ filename: 'note.txt', size: 7 }],
  })
})

describe('resources', () => {
  test('have the content of a file and the list of a type, for who may read the whole base', {
    tags: 'full',
  }, async () => {
    await write('r/ä b.md', '# Title', { content_type: 'text/markdown' })
    const uri = 'plinth://crm/files/docs/r/%C3%A4%20b.md'
    const read = (at: string, token?: string) =>
      rpc(world, AT, 'resources/read', { uri: at }, token === undefined ? {} : { token })
    expect((await read(uri)).body.result.contents).toMatchObject([
      { mimeType: 'text/markdown', text: '# Title' },
    ])
    const list = JSON.parse((await read('plinth://crm/files/docs?prefix=r/')).body.result.contents[0].text)
    expect(list.data).toMatchObject([{ kind: 'file', path: 'r/ä b.md' }])
    const { token } = await world.newToken([{ record_type: 'type1', permission: 'read' }])
    const absent = await read('plinth://crm/files/docs/absent')
    const hidden = await read(uri, token)
    expect(hidden.body.error.code).toBe(absent.body.error.code)
    for (const bad of [
      'plinth://crm/files/docs/../x',
      'plinth://crm/files/docs/a//b',
      'plinth://crm/files/docs?depth=1',
    ])
      expect((await read(bad)).body.error, bad).toBeDefined()
    const templates = async (with_?: string) =>
      (
        await rpc(world, AT, 'resources/templates/list', {}, with_ === undefined ? {} : { token: with_ })
      ).body.result.resourceTemplates.map(({ name }: Body) => name)
    expect(await templates()).toEqual(['type', 'record', 'records', 'file', 'files', 'run', 'runs'])
    expect(await templates(token)).toEqual(['type', 'record', 'records'])
    const { resources } = (await rpc(world, AT, 'resources/list')).body.result
    expect(resources.map((each: Body) => each.uri)).toContain('plinth://crm/files/docs')
  })

  test('are completed by file type and path', async () => {
    await write('complete/one.txt', '1')
    await write('complete/two.txt', '2')
    const complete = async (name: string, value: string, token?: string) =>
      (
        await rpc(
          world,
          AT,
          'completion/complete',
          {
            ref: { type: 'ref/resource', uri: 'plinth://crm/files/{file_type}/{+path}' },
            argument: { name, value },
            context: { arguments: { file_type: 'docs' } },
          },
          token === undefined ? {} : { token },
        )
      ).body.result.completion.values
    expect(await complete('file_type', 'd')).toEqual(['docs'])
    expect(await complete('path', 'complete/t')).toEqual(['complete/two.txt'])
    const { token } = await world.newToken([{ record_type: 'type1', permission: 'read' }])
    expect(await complete('path', 'complete/', token)).toEqual([])
  })

  test.each([{ dialect: 'v1' as const }, { dialect: 'modern' as const }])(
    'notify a $dialect client of the subscribed file and of the list around it',
    async ({ dialect }) => {
      const [mine, list] = [
        `plinth://crm/files/docs/${dialect}/s.txt`,
        `plinth://crm/files/docs?prefix=${dialect}/`,
      ]
      await write(`${dialect}/s.txt`, 'one')
      const client = await followWith(world.url, world.adminToken, dialect, AT, [mine])
      await write('elsewhere.txt', `${dialect}`)
      await write(`${dialect}/s.txt`, 'two')
      await client.until(mine)
      await client.close()
      const whole = await followWith(world.url, world.adminToken, dialect, AT, [list])
      await write('elsewhere.txt', `${dialect} again`)
      await write(`${dialect}/new.txt`, 'new')
      await whole.until(list)
      await call('delete_file', { path: `${dialect}/s.txt` })
      await whole.until(list)
      expect(new Set(whole.resourceEvents())).toEqual(new Set([list]))
      await whole.close()
    },
  )
})
