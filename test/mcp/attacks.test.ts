import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'

const CANARY = 'CANARY-7f3a'
let server: TestServer
/** May write `deal` in the base `mine`; has no other grant. */
let token: string

const put = async (path: string, body: object) => succeed(await server.call('PUT', path, body), 201)
const call = (name: string, args: Body = {}, path = '/mcp/mine', as = token) =>
  callTool(server, path, name, args, { token: as })
const asAdmin = (name: string, args: Body = {}, path = '/mcp/mine') =>
  call(name, args, path, server.adminToken)

beforeAll(async () => {
  server = await openServer()
  const any = { source_record_types: ['*'], target_record_types: ['*'] }
  for (const base of ['mine', 'theirs']) {
    await put(`/v1/bases/${base}`, {})
    for (const type of ['deal', 'secret']) {
      await put(`/v1/${base}/record-types/${type}`, {})
      for (const id of ['x1', 'x2'])
        await put(`/v1/${base}/records/${type}/${id}`, {
          data: { in: base, note: type === 'secret' ? CANARY : 'open' },
        })
    }
    await put(`/v1/${base}/relationship-types/about`, any)
  }
  await put('/v1/theirs/records/deal/only-there', { data: { note: CANARY } })
  const made = await server.call('POST', '/v1/tokens', {
    name: 'scoped',
    grants: [{ base: 'mine', record_type: 'deal', environment: '*', permission: 'write' }],
  })
  token = succeed(made, 201).token
})
afterAll(() => server.close())

/** Valid arguments, apart from the record type, of every tool with a record type argument. */
const OF_TYPE: [string, (type: string) => Body][] = [
  ['describe_type', (record_type) => ({ record_type })],
  ['query_records', (record_type) => ({ record_type })],
  ['get_record', (record_type) => ({ record_type, id: 'x1' })],
  ['upsert_record', (record_type) => ({ record_type, id: 'x1', data: {} })],
  ['update_record', (record_type) => ({ record_type, id: 'x1', data: {} })],
  ['cancel_record', (record_type) => ({ record_type, id: 'x1' })],
  ['delete_record', (record_type) => ({ record_type, id: 'x1' })],
  ['aggregate_records', (record_type) => ({ record_type, aggregations: [{ op: 'count' }] })],
  ['record_history', (record_type) => ({ record_type, id: 'x1' })],
  ['get_related', (record_type) => ({ record_type, id: 'x1' })],
  ['work', (record_type) => ({ action: 'claim', record_type })],
  ['work', (record_type) => ({ action: 'wait', record_type, timeout: 0 })],
  ['batch', (record_type) => ({ operations: [{ type: 'delete_record', record_type, id: 'x1' }] })],
  ['batch', (record_type) => ({ operations: [{ type: 'upsert_record', record_type, id: 'x1', data: {} }] })],
  [
    'upsert_record',
    (record_type) => ({
      record_type: 'deal',
      data: {},
      relationships: [{ rel_type: 'about', record_type, id: 'x1' }],
    }),
  ],
  [
    'link_records',
    (type) => ({
      rel_type: 'about',
      source_record_type: 'deal',
      source_id: 'x1',
      target_record_type: type,
      target_id: 'x1',
    }),
  ],
  [
    'link_records',
    (type) => ({
      rel_type: 'about',
      source_record_type: type,
      source_id: 'x1',
      target_record_type: 'deal',
      target_id: 'x1',
      remove: true,
    }),
  ],
]

/** An error without its request id and with the given name replaced, to compare two errors. */
const shapeOf = ({ error, rpcError }: { error: Body; rpcError: Body }, name: string) => {
  const { request_id: _, ...rest } = error ?? rpcError ?? {}
  return JSON.stringify(rest).replaceAll(name, '<name>')
}

describe('a type outside the grants', () => {
  test.each(OF_TYPE)(
    '%s returns the same error for it as for a type that does not exist',
    async (name, argsOf) => {
      const hidden = await call(name, argsOf('secret'))
      const absent = await call(name, argsOf('absent'))
      expect(hidden.body).toBeUndefined()
      expect(shapeOf(hidden, 'secret')).toBe(shapeOf(absent, 'absent'))
      expect(shapeOf(hidden, 'secret')).not.toContain(CANARY)
    },
  )

  test('no error message suggests it for a similar name', { tags: 'full' }, async () => {
    for (const near of ['secre', 'secrets', 'Secret', 'sеcret']) {
      for (const [name, argsOf] of OF_TYPE) {
        const { error, rpcError } = await call(name, argsOf(near))
        expect(JSON.stringify(error ?? rpcError).replaceAll(near, ''), `${name} of ${near}`).not.toMatch(
          /secret/i,
        )
      }
      const typed = await call(`create_${near}`, {})
      expect(JSON.stringify(typed.error ?? typed.rpcError).replaceAll(`create_${near}`, '')).not.toMatch(
        /secret/i,
      )
    }
  })

  test('keeps its records unchanged after these calls', async () => {
    for (const id of ['x1', 'x2'])
      expect((await server.call('GET', `/v1/mine/records/secret/${id}`)).body.data.note).toBe(CANARY)
  })
})

describe('a call on the URL of one base', () => {
  test('refuses base_id as an unknown argument', { tags: 'full' }, async () => {
    for (const [name, args] of [
      ['query_records', { base_id: 'theirs', record_type: 'deal' }],
      ['upsert_record', { base_id: 'theirs', record_type: 'deal', id: 'x1', data: {} }],
      ['delete_record', { base_id: 'theirs', record_type: 'deal', id: 'x1' }],
      ['batch', { base_id: 'theirs', operations: [] }],
    ] as const) {
      const { error } = await asAdmin(name, args)
      expect(error.details, name).toMatchObject([{ path: '/base_id', code: 'unknown_key' }])
    }
    const within = { type: 'delete_record', base_id: 'theirs', record_type: 'deal', id: 'x1' }
    const { error } = await asAdmin('batch', { operations: [within] })
    expect(error.details).toMatchObject([{ path: '/operations/0/base_id', code: 'unknown_key' }])
  })

  test('returns the same FORBIDDEN on /mcp for another base that exists and for one that does not', {
    tags: 'full',
  }, async () => {
    for (const [name, argsOf] of OF_TYPE) {
      const hidden = await call(name, { base_id: 'theirs', ...argsOf('deal') }, '/mcp')
      const absent = await call(name, { base_id: 'nowhere', ...argsOf('deal') }, '/mcp')
      expect(hidden.error?.code, name).toBe('FORBIDDEN')
      expect(shapeOf(hidden, 'theirs'), name).toBe(shapeOf(absent, 'nowhere'))
    }
  })

  test('cannot use records, claims and cursors of another base', { tags: 'full' }, async () => {
    const ends = {
      rel_type: 'about',
      source_record_type: 'deal',
      source_id: 'x1',
      target_record_type: 'deal',
    }
    expect((await asAdmin('link_records', { ...ends, target_id: 'only-there' })).error.code).toBe(
      'VALIDATION_ERROR',
    )
    expect((await asAdmin('get_related', { record_type: 'deal', id: 'only-there' })).error.code).toBe(
      'NOT_FOUND',
    )
    const claimed = await asAdmin('work', { action: 'claim', record_type: 'deal', limit: 1 }, '/mcp/theirs')
    const [{ claim }] = claimed.body.data
    for (const action of ['heartbeat', 'complete', 'release'])
      expect((await asAdmin('work', { action, claim_id: claim.id })).error.code, action).toBe('NOT_FOUND')
    const page = await asAdmin('query_records', { record_type: 'deal', limit: 1 }, '/mcp/theirs')
    const cursor = page.body.meta.next_cursor
    const { error } = await asAdmin('query_records', { record_type: 'deal', limit: 1, cursor })
    expect(error.details[0].code).toBe('invalid_cursor')
  })

  test('returns key_reused for an idempotency key that was used in another base, and writes nothing', {
    tags: 'full',
  }, async () => {
    const args = { record_type: 'deal', id: 'k1', data: { note: CANARY }, idempotency_key: 'same' }
    const typed = { note: CANARY, idempotency_key: 'typed' }
    expect((await asAdmin('upsert_record', args, '/mcp/theirs')).body.operation).toBe('created')
    expect((await asAdmin('create_deal', typed, '/mcp/theirs')).body.operation).toBe('created')
    for (const [name, sent] of [
      ['upsert_record', args],
      ['create_deal', typed],
    ] as const) {
      const { error } = await asAdmin(name, sent)
      expect(error.details[0].code).toBe('key_reused')
    }
    expect((await server.call('GET', '/v1/mine/records/deal/k1')).status).toBe(404)
  })
})

describe('hostile tool names and arguments', () => {
  test.each([
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'delete_record\\u200b',
    'ｄelete_record',
    'DELETE_RECORD',
    '',
  ])('a call of the tool %j is an unknown tool error', async (name) => {
    const { rpcError, result } = await asAdmin(name, { record_type: 'deal', id: 'x1' })
    expect(result).toBeUndefined()
    expect(rpcError.code).toBe(-32602)
  })

  test('a key __proto__ is refused in JSON and in a JSON string, and does not change Object.prototype', async () => {
    const text = (args: string) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"upsert_record","arguments":${args}}}`
    const raw = await fetch(new URL('/mcp/mine', server.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: text('{"record_type":"deal","id":"p1","data":{"__proto__":{"a":1}}}'),
    })
    expect(raw.status).toBe(200)
    const { id, result } = (await raw.json()) as Body
    expect(id).toBe(1)
    expect(result.isError).toBe(true)
    expect(JSON.parse(result.content[0].text).error.code).toBe('VALIDATION_ERROR')
    const { error } = await call('upsert_record', {
      record_type: 'deal',
      id: 'p1',
      data: '{"__proto__":{"a":1}}',
    })
    expect(error.code).toBe('VALIDATION_ERROR')
    expect((await server.call('GET', '/v1/mine/records/deal/p1')).status).toBe(404)
    expect(({} as Body).a).toBeUndefined()
  })

  test('JSON text is not decoded where a string is expected, and is decoded only once', async () => {
    for (const args of [
      { record_type: '["deal"]', id: 'x1' },
      { record_type: 'deal', id: '{"$ref":"a"}' },
      { record_type: { toString: 'deal' }, id: 'x1' },
      { record_type: ['deal'], id: 'x1' },
      { record_type: 'deal', id: ['x1'] },
    ]) {
      const { error, body } = await call('get_record', args)
      expect(body).toBeUndefined()
      expect(['VALIDATION_ERROR', 'FORBIDDEN', 'NOT_FOUND']).toContain(error.code)
    }
    const twice = JSON.stringify(JSON.stringify({ note: 1 }))
    expect((await call('update_record', { record_type: 'deal', id: 'x1', data: twice })).error.code).toBe(
      'VALIDATION_ERROR',
    )
  })

  test('a value that is too long or too deep is refused with an error of at most 4,000 characters', {
    tags: 'full',
  }, async () => {
    const long = 'a'.repeat(300_000)
    const deep = JSON.parse(`${'['.repeat(50)}${']'.repeat(50)}`)
    const calls: [string, Body][] = [
      ['get_record', { record_type: long, id: 'x1' }],
      ['get_record', { record_type: 'deal', id: long }],
      ['get_record', { record_type: 'deal', id: 'x1', [long]: 1 }],
      ['query_records', { record_type: 'deal', filter: { field: long, op: 'eq', value: 1 } }],
      ['query_records', { record_type: 'deal', sort: long }],
      ['query_records', { record_type: 'deal', fields: [long] }],
      ['query_records', { record_type: 'deal', cursor: long }],
      ['query_records', { record_type: 'deal', expand: [long] }],
      ['delete_record', { record_type: 'deal', id: 'x1', plan_token: long }],
      ['upsert_record', { record_type: 'deal', data: {}, idempotency_key: long }],
      ['upsert_record', { record_type: 'deal', data: {}, external_id: long }],
      [
        'upsert_record',
        { record_type: 'deal', data: {}, relationships: [{ rel_type: long, record_type: 'deal', id: 'x1' }] },
      ],
      [
        'link_records',
        {
          rel_type: long,
          source_record_type: 'deal',
          source_id: 'x1',
          target_record_type: 'deal',
          target_id: 'x2',
        },
      ],
      ['batch', { operations: [{ type: long }] }],
      ['batch', { operations: deep }],
      ['work', { action: 'complete', claim_id: long }],
      ['work', { action: long }],
      [long, {}],
    ]
    const wordy: string[] = []
    for (const [name, args] of calls)
      for (const as of [token, server.adminToken]) {
        const { error, rpcError } = await call(name, args, '/mcp/mine', as)
        const text = JSON.stringify(error ?? rpcError ?? '')
        if (text.length > 4000 || text === '""')
          wordy.push(
            `${name.slice(0, 40)} ${JSON.stringify(args).slice(0, 60)}: ${text.length} ${text.slice(0, 200)}`,
          )
      }
    expect(wordy).toEqual([])
  })

  test('the JSON-RPC id of a response equals the id of its request: 0, "0", "__proto__", a long string', async () => {
    for (const id of [0, '0', '__proto__', 'a'.repeat(200)])
      expect((await rpc(server, '/mcp/mine', 'tools/list', {}, { token, id })).body.id).toBe(id)
  })
})
