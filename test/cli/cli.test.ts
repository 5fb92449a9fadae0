import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openServer, type TestServer } from '../support/server.ts'
import { plinth, type Settings } from './plinth.ts'

let server: TestServer
let folder: string
let settings: Settings
const schema = {
  type: 'object',
  properties: { amount: { type: 'number' } },
  required: ['amount'],
  additionalProperties: false,
}

beforeAll(async () => {
  server = await openServer()
  folder = await mkdtemp(join(tmpdir(), 'plinth-cli-'))
  // A data directory without a server: a command must not use the server of a developer.
  settings = {
    PLINTH_URL: server.url,
    PLINTH_TOKEN: server.adminToken,
    PLINTH_BASE: 'crm',
    PLINTH_DATA_DIR: join(folder, 'none'),
  }
  await server.call('PUT', '/v1/bases/crm', { name: 'Sales' })
  await server.call('PUT', '/v1/crm/record-types/deal', { json_schema: schema })
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (...args: string[]) => plinth(args, settings)
const json = async (...args: string[]) => {
  const { code, out, err } = await run(...args, '--json')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

test('bases, types, records and relationships can be put, listed, shown and deleted', {
  tags: 'full',
}, async () => {
  const first = ['--description', 'd', '--settings', '{"trash_days":3,"history_days":9}']
  expect(await json('base', 'put', 'shop', ...first)).toMatchObject({ name: 'shop', description: 'd' })
  // A PUT, as its help says: what is left out has its default.
  expect((await run('base', 'put', '--help')).out).toMatch(/what is left out\s+has its default/)
  expect(await json('base', 'put', 'shop', '--name', 'Shop')).toMatchObject({
    ...{ description: null, settings: { trash_days: 30, history_days: null } },
  })
  expect(await json('base', 'put', 'shop', '--name', 'Shop', '--settings', '{"trash_days":3}')).toMatchObject(
    {
      name: 'Shop',
      settings: { trash_days: 3 },
    },
  )
  const type = await json(
    'record-type',
    'put',
    'order',
    '--base',
    'shop',
    '--schema',
    JSON.stringify(schema),
    '--timezone',
    'Europe/Paris',
  )
  expect(type).toMatchObject({ json_schema: schema, timezone: 'Europe/Paris' })
  await json('record', 'put', 'order', 'o1', '--base', 'shop', '--data', '{"amount":1}')
  expect((await json('record-type', 'list', '--base', 'shop')).data).toHaveLength(1)
  const kind = ['--source', 'order', '--target', 'order', '--cardinality', 'one_to_one']
  expect(await json('relationship-type', 'put', 'after', '--base', 'shop', ...kind)).toMatchObject({
    source_record_types: ['order'],
    cardinality: 'one_to_one',
  })
  const ends = ['--source-type', 'order', '--source', 'o1', '--target-type', 'order', '--target', 'o1']
  const linked = ['relationship', 'put', 'l1', '--base', 'shop', '--type', 'after', ...ends]
  expect(await json(...linked, '--data', '{"n":1}')).toMatchObject({ id: 'l1', data: { n: 1 } })
  expect((await json('relationship', 'list', '--base', 'shop')).data).toHaveLength(1)
  expect(await json('relationship', 'get', 'l1', '--base', 'shop')).toMatchObject({ rel_type: 'after' })
  expect(await json('relationship', 'delete', 'l1', '--base', 'shop')).toEqual({ id: 'l1', deleted: true })
  expect((await json('relationship-type', 'list', '--base', 'shop')).data).toHaveLength(1)
  const gone = await json('relationship-type', 'delete', 'after', '--base', 'shop')
  expect(gone).toEqual({ id: 'after', deleted: true })
  expect(await json('record-type', 'delete', 'order', '--base', 'shop', '--confirm', 'order')).toEqual({
    id: 'order',
    deleted: true,
  })
  expect(await json('base', 'delete', 'shop', '--confirm', 'shop')).toEqual({ id: 'shop', deleted: true })
  expect((await json('base', 'list')).data.map((base: { id: string }) => base.id)).toEqual(['crm'])
})

test('a record is created, replaced, patched, cancelled, restored and deleted', {
  tags: 'full',
}, async () => {
  expect(await json('record', 'create', 'deal', '--id', 'd1', '--data', '{"amount":1}')).toMatchObject({
    id: 'd1',
    version: 1,
  })
  expect(
    await json('record', 'put', 'deal', 'd1', '--data', '{"amount":2}', '--if-match', '1'),
  ).toMatchObject({ version: 2 })
  expect(await json('record', 'patch', 'deal', 'd1', '--data', '{"amount":3}')).toMatchObject({
    data: { amount: 3 },
  })
  const operations = '[{"op":"replace","path":"/data/amount","value":4}]'
  expect(await json('record', 'patch', 'deal', 'd1', '--operations', operations)).toMatchObject({
    data: { amount: 4 },
  })
  expect(await json('record', 'cancel', 'deal', 'd1', '--dry-run')).toMatchObject({
    status: 'cancelled',
    dry_run: true,
  })
  expect(await json('record', 'get', 'deal', 'd1')).toMatchObject({ status: 'active' })
  expect(await json('record', 'cancel', 'deal', 'd1')).toMatchObject({ status: 'cancelled' })
  expect(await json('record', 'restore', 'deal', 'd1')).toMatchObject({ status: 'active' })
  expect(await json('record', 'delete', 'deal', 'd1')).toEqual({ id: 'd1', deleted: true })
})

test('`record-type patch` accepts fields, a merge patch or a JSON Patch', { tags: 'full' }, async () => {
  const patch = (...args: string[]) => json('record-type', 'patch', 'ware', ...args)
  await json('record-type', 'put', 'ware', '--schema', '{"type":"object","properties":{"a":{},"b":{}}}')
  expect(await patch('--name', 'Ware')).toMatchObject({ name: 'Ware', version: 2 })
  expect(await patch('--merge', '{"json_schema":{"properties":{"a":null}}}')).toMatchObject({
    name: 'Ware',
    json_schema: { type: 'object', properties: { b: {} } },
    meta: { warnings: [expect.stringContaining('"a"'), expect.stringContaining('Ware.a was removed.')] },
  })
  const operations = '[{"op":"add","path":"/json_schema/properties/c","value":{}}]'
  expect(await patch('--operations', operations)).toMatchObject({
    json_schema: { properties: { b: {}, c: {} } },
    version: 4,
  })
})

test('`record put` without an id upserts by the external id', { tags: 'full' }, async () => {
  const args = ['record', 'put', 'deal', '--external-id', 'x1', '--external-source', 'erp', '--data']
  const made = await json(...args, '{"amount":1}')
  expect(made).toMatchObject({ operation: 'created', external_source: 'erp' })
  expect(await json(...args, '{"amount":2}')).toMatchObject({ operation: 'updated', id: made.id })
  const { data, meta } = await json(
    'record',
    'list',
    'deal',
    '--filter',
    '{"field":"external_id","op":"eq","value":"x1"}',
    '--include-total',
  )
  expect([data.length, meta.total]).toEqual([1, 1])
})

test('--data reads JSON from a file with @, and from standard input with -', { tags: 'full' }, async () => {
  const file = join(folder, 'deal.json')
  await writeFile(file, '{"amount":5}')
  expect(await json('record', 'put', 'deal', 'f1', '--data', `@${file}`)).toMatchObject({
    data: { amount: 5 },
  })
  const piped = await plinth(
    ['record', 'put', 'deal', 'f1', '--data', '-', '--json'],
    settings,
    '{"amount":6}',
  )
  expect(JSON.parse(piped.out)).toMatchObject({ data: { amount: 6 } })
})

test('--json prints the API response byte for byte', async () => {
  const { out } = await run('base', 'get', 'crm', '--json')
  expect(out).toBe(`${(await server.call('GET', '/v1/bases/crm')).text}\n`)
})

test('without --json a list is a table, and one item has one line per field', { tags: 'full' }, async () => {
  await run('record', 'put', 'deal', 'p1', '--data', '{"amount":7}', '--external-id', '\u202eder')
  const list = await run('record', 'list', 'deal', '--filter', '{"field":"id","op":"eq","value":"p1"}')
  expect(list.out.split('\n').map((line) => line.split('\t')[0])).toEqual(['id', 'p1', ''])
  // A bidirectional override character is printed as an escape sequence.
  expect(list.out).toContain('\t\\u202eder\t')
  const one = await run('record', 'get', 'deal', 'p1')
  expect(one.out).toMatch(/^id +p1$/m)
  for (const command of [
    ['record', 'list', 'deal'],
    ['query', 'deal'],
    ['record-type', 'list'],
  ]) {
    const [first, next] = [await run(...command, '--limit', '1'), await run(...command, '--offset', '1')]
    const [, cursor = ''] = /^There are more: --cursor (\S+)\n$/.exec(first.err) ?? []
    expect((await run(...command, '--cursor', cursor)).out).toBe(next.out)
  }
  const groups = await run('aggregate', 'deal', '--fn', 'count', '--group-by', 'id', '--limit', '1')
  expect(groups.err).toBe('There are more: --offset 1\n')
})

test('`token create` prints only the token on standard output, and the token is valid', {
  tags: 'full',
}, async () => {
  const grants = [
    '--grant',
    'base=crm,record_type=deal,record_type=lead,environment=production,permission=read',
  ]
  const { code, out, err } = await run('token', 'create', '--name', 'reader', ...grants)
  expect(code).toBe(0)
  expect(out).toMatch(/^plt_\S+\n$/)
  expect(err).not.toContain(out.trim())
  const asReader = { ...settings, PLINTH_TOKEN: out.trim() }
  expect((await plinth(['record', 'list', 'deal'], asReader)).code).toBe(0)
  expect(await plinth(['base', 'delete', 'crm'], asReader)).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/^FORBIDDEN: /),
  })
  const { data } = await json('token', 'list')
  const made = data.find((token: { name: string }) => token.name === 'reader')
  expect(made.grants[0].record_type).toEqual(['deal', 'lead'])
  expect(await json('token', 'revoke', made.id)).toMatchObject({ deleted: true })
})

test('`token create` makes a token for one endpoint, and `token self` shows the token in use', {
  tags: 'full',
}, async () => {
  const grant = 'base=crm,endpoint=frontline,environment=production,permission=write'
  const { code, out } = await run('token', 'create', '--name', 'desk', '--grant', grant)
  expect(code).toBe(0)
  const asDesk = { ...settings, PLINTH_TOKEN: out.trim() }
  const self = await plinth(['token', 'self', '--json'], asDesk)
  expect(JSON.parse(self.out)).toMatchObject({
    name: 'desk',
    grants: [{ base: 'crm', endpoint: 'frontline', environment: 'production', permission: 'write' }],
  })
  expect(self.out).not.toContain(out.trim())
  expect(await plinth(['record', 'list', 'deal'], asDesk)).toMatchObject({
    code: 1,
    err: expect.stringContaining('/mcp/crm/e/frontline'),
  })
})

test('an option with a short form takes JSON where that says more, and names itself if it cannot read it', {
  tags: 'full',
}, async () => {
  const rule = { record_type: 'deal', operations: ['update'], max: 2, per: 'day' }
  const grant = { base: 'crm', record_type: '*', environment: '*', permission: 'write' }
  const bounded = JSON.stringify({ ...grant, writes: { auto: [rule] } })
  const made = await json('token', 'create', '--name', 'bounded', '--grant', bounded)
  expect(made.grants).toMatchObject([{ ...grant, writes: { auto: [rule] } }])
  await server.call('PUT', '/v1/crm/records/deal/drafted', { data: { amount: 1 } })
  expect(await json('preview', 'create', 'fields', '--copy', 'on_write')).toMatchObject({ id: 'crm--fields' })
  await server.call('PATCH', '/v1/crm--fields/records/deal/drafted', { data: { amount: 2 } })
  const field = { kind: 'record', record_type: 'deal', id: 'drafted', fields: ['data.amount'] }
  const discarded = ['--base', 'crm--fields', 'discard', '--resource', JSON.stringify(field)]
  expect(await json(...discarded)).toMatchObject({ changes: [{ id: 'deal/drafted', op: 'update' }] })
  const cut = [
    ['endpoint', 'put', 'cut', '--actions', '[{"id":'],
    ['token', 'create', '--name', 'cut', '--grant', '{"base":'],
    ['promote', 'crm--fields', '--resource', '{"kind":'],
  ]
  for (const args of cut) {
    const { code, out, err } = await run(...args)
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(`VALIDATION_ERROR: ${args.at(-2)}`)])
  }
})

test('an API error is printed on standard error with its code, and the exit code is 1', {
  tags: 'full',
}, async () => {
  const wrong = await run('record', 'put', 'deal', 'd9', '--data', '{"amout":1}')
  expect(wrong).toMatchObject({ code: 1, out: '' })
  expect(wrong.err).toMatch(
    /^VALIDATION_ERROR: .*\n(.*\n)*? {2}\/data\/amout.*\n {4}hint: amount\n {2}request id: \S+\n$/,
  )
  const absent = await run('record', 'get', 'deal', 'd9', '--json')
  expect(absent).toMatchObject({ code: 1, out: '' })
  expect(JSON.parse(absent.err)).toMatchObject({
    error: { code: 'NOT_FOUND', request_id: expect.any(String) },
  })
})

test.each([
  [['recrod', 'list'], 'Did you mean record?'],
  [['record', 'lst', 'deal'], 'Did you mean list?'],
  [['base', 'list', '--limmit', '1'], 'Did you mean --limit?'],
  [['base', 'list', '--limit', '1', '--limit', '2'], '--limit is given more than once'],
  [['base', 'get'], "missing required argument 'id'"],
  [['base', 'get', 'crm', 'more'], 'too many arguments'],
  [['base', 'get'], '"plinth base get --help" shows what it takes'],
  [['record', 'put', 'deal', 'd1'], "required option '--data <json>' not specified"],
  [['record', 'put', 'deal', 'd1', '--data', '{"amount":9007199254740993}'], '--data/amount'],
  [['record', 'put', 'deal', 'd1', '--data', '{'], 'malformed'],
  [['record', 'put', 'deal', 'd1', '--data', '@/nowhere'], 'cannot be read (ENOENT)'],
  [['record', 'put', 'deal', 'd1', '--data', '{}', '--if-match', 'x'], '--if-match must be a version'],
  [['record', 'patch', 'deal', 'd1'], 'Nothing to send. Pass'],
  [['record-type', 'patch', 'deal', '--merge', '{}', '--name', 'x'], 'cannot be combined with fields'],
  [['record', 'delete', 'deal', '..'], '".." is not an id'],
  [['token', 'create', '--name', 'x', '--grant', 'crm'], '"crm" is not key=value'],
  [['base', 'list', '--url', 'ftp://x'], 'http://… or https://…'],
  [['trigger', 'put', 'hook', '--url', 'https://example.com/'], 'Pass --target <url> for the "url"'],
])('a usage error exits with 2 and sends no request: %j', async (args, message) => {
  const { code, out, err } = await run(...args)
  expect({ code, out, err }).toMatchObject({ code: 2, out: '', err: expect.stringContaining(message) })
  expect(err).toMatch(/^VALIDATION_ERROR: /)
})

test('a request that an error advises is named as its command', async () => {
  const { err } = await run('record', 'get', 'deal', 'd1', '--base', 'nobase')
  expect(err).toContain('plinth base list lists the bases')
  expect(err).not.toContain('/v1/')
})

test('a missing base is a usage error that names --base and PLINTH_BASE', async () => {
  const { code, err } = await plinth(['record', 'list', 'deal'], { ...settings, PLINTH_BASE: '' })
  expect([code, err]).toEqual([
    2,
    'VALIDATION_ERROR: The base is missing. Pass --base <id>, or set PLINTH_BASE.\n',
  ])
})

test('the token of the data directory is sent to the local server only', async () => {
  const seen: (string | undefined)[] = []
  const stub = createServer((request, response) => {
    seen.push(request.headers.authorization)
    response
      .setHeader('content-type', 'application/json')
      .end('{"data":[],"meta":{"has_more":false,"limit":50,"offset":0}}')
  })
  await new Promise<void>((resolve) => stub.listen(0, resolve))
  const { port } = stub.address() as AddressInfo
  await writeFile(join(folder, 'admin-token'), 'plt_kept\n')
  await writeFile(join(folder, 'server.json'), JSON.stringify({ url: `http://127.0.0.1:${port}`, pid: 1 }))
  await plinth(['base', 'list'], { PLINTH_DATA_DIR: folder })
  // 0.0.0.0 is not a loopback address, so the CLI treats it as a foreign host.
  await plinth(['base', 'list', '--url', `http://0.0.0.0:${port}`], { PLINTH_DATA_DIR: folder })
  stub.close()
  expect(seen).toEqual(['Bearer plt_kept', undefined])
})

test('a 401 names the token file only if the token was read from it', async () => {
  const stub = createServer((_, response) =>
    response
      .writeHead(401, { 'content-type': 'application/json' })
      .end(
        JSON.stringify({ error: { code: 'UNAUTHORIZED', message: 'The token is not valid.', details: [] } }),
      ),
  )
  await new Promise<void>((resolve) => stub.listen(0, '127.0.0.1', resolve))
  const { port } = stub.address() as AddressInfo
  await writeFile(join(folder, 'admin-token'), 'plt_kept\n')
  const env = { PLINTH_URL: `http://127.0.0.1:${port}`, PLINTH_DATA_DIR: folder }
  const kept = await plinth(['base', 'list'], env)
  const named = await plinth(['base', 'list'], { ...env, PLINTH_TOKEN: 'plt_named' })
  stub.close()
  expect(kept).toMatchObject({ code: 1, err: expect.stringContaining(join(folder, 'admin-token')) })
  expect(kept.err).toContain('Set PLINTH_TOKEN')
  expect(kept.err).not.toContain('plt_kept')
  expect(named.err).not.toContain('admin-token')
})

test('an unreachable server and a server that is not Plinth are different errors', async () => {
  const none = await plinth(['base', 'list'], { PLINTH_URL: 'http://127.0.0.1:1', PLINTH_DATA_DIR: folder })
  expect(none).toMatchObject({ code: 1, err: expect.stringContaining('UNREACHABLE: ') })
  const stub = createServer((_, response) => void response.end('<html>'))
  await new Promise<void>((resolve) => stub.listen(0, '127.0.0.1', resolve))
  const { port } = stub.address() as AddressInfo
  const other = await plinth(['base', 'list'], { PLINTH_URL: `http://127.0.0.1:${port}` })
  stub.close()
  expect(other).toMatchObject({ code: 1, err: expect.stringContaining('is not Plinth (HTTP 200)') })
})

test('a GET is repeated after a 429; a POST without idempotency key is not', async () => {
  const seen: string[] = []
  const stub = createServer((request, response) => {
    seen.push(request.method ?? '')
    const limited = { error: { code: 'RATE_LIMITED', message: 'Too many requests.', details: [] } }
    response
      .writeHead(seen.length === 2 ? 200 : 429, { 'retry-after': '0' })
      .end(JSON.stringify(seen.length === 2 ? { id: 'crm' } : limited))
  })
  await new Promise<void>((resolve) => stub.listen(0, '127.0.0.1', resolve))
  const at = { PLINTH_URL: `http://127.0.0.1:${(stub.address() as AddressInfo).port}`, PLINTH_BASE: 'crm' }
  expect((await plinth(['base', 'get', 'crm'], at)).code).toBe(0)
  expect((await plinth(['record', 'create', 'deal', '--data', '{}'], at)).code).toBe(1)
  stub.close()
  expect(seen).toEqual(['GET', 'GET', 'POST'])
})

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  expect((await run('--version')).out).toBe(`${version}\n`)
})

test('`query` prints a table with a cursor for the next page, or the API response with --json', {
  tags: 'full',
}, async () => {
  await json('record-type', 'put', 'visit', '--schema', '{}')
  for (const [id, place] of [
    ['v1', 'Rome'],
    ['v2', 'Oslo'],
    ['v3', 'Rome'],
  ] as const)
    await json('record', 'put', 'visit', id, '--data', JSON.stringify({ place, days: id.slice(1) }))
  const filter = '{"field":"data.place","op":"eq","value":"Rome"}'
  const { code, out, err } = await run(
    'query',
    'visit',
    '--filter',
    filter,
    '--sort',
    '-id',
    '--fields',
    'id,data.place',
  )
  expect({ code, out, err }).toEqual({ code: 0, out: 'id\tdata.place\nv3\tRome\nv1\tRome\n', err: '' })
  const first = await run(
    'query',
    'visit',
    '--sort',
    'id',
    '--limit',
    '2',
    '--fields',
    'id',
    '--include-total',
  )
  expect(first.out).toBe('id\nv1\nv2\n')
  const [, cursor = ''] = /--cursor (\S+)/.exec(first.err) ?? []
  expect(first.err).toContain('2 of 3')
  const rest = await json(
    'query',
    'visit',
    '--sort',
    'id',
    '--limit',
    '2',
    '--fields',
    'id',
    '--cursor',
    cursor,
  )
  expect(rest.data).toEqual([{ id: 'v3' }])
  const wrong = await run('query', 'visit', '--filter', '{"place":"Rome"}')
  expect(wrong.code).toBe(1)
  expect(wrong.err).toContain('VALIDATION_ERROR')
  expect(wrong.err).toContain('{"field":"data.place","op":"eq","value":"Rome"}')
})
