import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digest } from '../../../src/contract/canonical-hash.ts'
import { expectDetail, expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import type { Answer } from '../../support/server.ts'
import { openWorld, patchJson, type World } from '../../support/world.ts'

let world: World
let at: string
beforeAll(async () => {
  world = await openWorld()
  at = `/v1/crm/records/${await world.newType()}`
})
afterAll(() => world.close())

let serial = 0
const newKey = () => ({ 'idempotency-key': `key-${++serial}` })
const isReplay = (answer: Answer) => answer.headers.get('idempotency-replayed') === 'true'
const total = async (path = at) =>
  succeed(await world.call('GET', `${path}?include_total=true&limit=1`)).meta.total
const stored = async (key: Record<string, string>) =>
  world.database.query<{ outcome: object | null; fingerprint: string }>(
    'SELECT * FROM plinth.idempotency WHERE key = $1',
    [key['idempotency-key']],
  )

describe('A repeated request under one key', () => {
  test('is replayed byte for byte and writes nothing', { tags: 'full' }, async () => {
    const key = newKey()
    const before = await total()
    const first = await world.call('POST', at, { data: { a: 1, b: 2 } }, key)
    const again = await world.call('POST', at, '{"data":{"b":2,"a":1.0}}', {
      ...key,
      'content-type': 'application/json',
    })
    succeed(first, 201)
    expect([again.status, again.text]).toEqual([201, first.text])
    expect([isReplay(first), isReplay(again)]).toEqual([false, true])
    for (const name of ['etag', 'location']) expect(again.headers.get(name)).toBe(first.headers.get(name))
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    expect(await total()).toBe(before + 1)
  })

  test('is replayed with its first answer after the record has changed', async () => {
    const key = newKey()
    const path = `${at}/then`
    const first = await world.call('PUT', path, { data: { n: 1 } }, key)
    succeed(await world.call('PUT', path, { data: { n: 2 } }))
    const again = await world.call('PUT', path, { data: { n: 1 } }, key)
    expect([again.status, again.text, isReplay(again)]).toEqual([201, first.text, true])
    expect(succeed(await world.call('GET', path)).data).toEqual({ n: 2 })
  })

  test('is replayed for every kind of write', { tags: 'full' }, async () => {
    const path = `${at}/all`
    const writes: ((key: Record<string, string>) => Promise<Answer>)[] = [
      (key) => world.call('PUT', path, { data: { l: [] } }, key),
      (key) => patchJson(world.call, path, [{ op: 'add', path: '/data/l/-', value: 1 }], key),
      (key) => world.call('PATCH', path, { data: { m: 1 } }, key),
      (key) => world.call('POST', `${path}/cancel`, undefined, key),
      (key) => world.call('POST', `${path}/restore`, undefined, key),
      (key) => world.call('PUT', at, { data: {}, external_id: 'keyed' }, key),
      (key) => world.call('DELETE', path, undefined, key),
      (key) => world.call('PUT', '/v1/bases/keyed', {}, key),
      (key) => world.call('PUT', '/v1/keyed/record-types/task', {}, key),
      (key) => world.call('PATCH', '/v1/keyed/record-types/task', { name: 'x' }, key),
      (key) => world.call('DELETE', '/v1/keyed/record-types/task', undefined, key),
      (key) => world.call('DELETE', '/v1/bases/keyed', undefined, key),
    ]
    for (const write of writes) {
      const key = newKey()
      const first = await write(key)
      expect(first.status, first.text).toBeLessThan(300)
      const again = await write(key)
      expect([again.status, again.text, isReplay(again)]).toEqual([first.status, first.text, true])
    }
    const versions = (await world.logOf(at.split('/').at(-1) ?? '', 'all')).map((row) => row.version)
    expect(versions).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('writes once when 64 are concurrent, and the others are replays', { tags: 'full' }, async () => {
    const key = newKey()
    const before = await total()
    const answers = await Promise.all(times(64, () => world.call('POST', at, { data: { n: 1 } }, key)))
    for (const answer of answers) succeed(answer, 201)
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1)
    expect(answers.filter(isReplay)).toHaveLength(63)
    expect(await total()).toBe(before + 1)
  })

  test('is a new request after a day', async () => {
    const key = newKey()
    const first = succeed(await world.call('POST', at, { data: {} }, key), 201)
    await world.database.query(
      `UPDATE plinth.idempotency SET created_at = now() - interval '25 hours' WHERE key = $1`,
      [key['idempotency-key']],
    )
    const later = await world.call('POST', at, { data: { other: true } }, key)
    expect(succeed(later, 201).id).not.toBe(first.id)
    expect(isReplay(later)).toBe(false)
    expect(isReplay(await world.call('POST', at, { data: { other: true } }, key))).toBe(true)
  })
})

describe('A different request under a used key', () => {
  test('is 409 and writes nothing', { tags: 'full' }, async () => {
    const key = newKey()
    const path = `${at}/used`
    const other = `/v1/crm/records/${await world.newType()}`
    succeed(await world.call('PUT', path, { data: { n: 1 } }, key), 201)
    for (const [method, target, body, headers] of [
      ['PUT', path, { data: { n: 2 } }, {}],
      ['PUT', path, { data: { n: '1' } }, {}],
      ['PUT', path, { data: { n: 1 }, external_id: 'e' }, {}],
      ['PUT', `${path}x`, { data: { n: 1 } }, {}],
      ['PUT', `${other}/used`, { data: { n: 1 } }, {}],
      ['PATCH', path, { data: { n: 1 } }, {}],
      ['POST', at, { data: { n: 1 } }, {}],
      ['PUT', path, { data: { n: 1 } }, { 'if-match': '"1"' }],
      ['PUT', path, { data: { n: 1 } }, { 'if-none-match': '*' }],
      ['PUT', `${path}?dry_run=true`, { data: { n: 1 } }, {}],
      ['PUT', `${path}?dry_run=false`, { data: { n: 1 } }, {}],
      ['DELETE', path, undefined, {}],
    ] as const) {
      const answer = await world.call(method, target, body, { ...key, ...headers })
      const { details } = expectFailure(answer, 'CONFLICT')
      expect(details[0]).toMatchObject({ path: 'header/Idempotency-Key', code: 'key_reused' })
      expect(isReplay(answer)).toBe(false)
    }
    expect(succeed(await world.call('GET', path)).version).toBe(1)
    expect(await total(other)).toBe(0)
    expect(isReplay(await world.call('PUT', path, { data: { n: 1 } }, key))).toBe(true)
  })

  test('by another token runs independently', async () => {
    const key = newKey()
    const { call } = await world.newToken([{ permission: 'write' }])
    const first = succeed(await world.call('POST', at, { data: {} }, key), 201)
    const other = await call('POST', at, { data: { other: 1 } }, key)
    expect(succeed(other, 201).id).not.toBe(first.id)
    expect(isReplay(other)).toBe(false)
  })
})

describe('A request under a key', () => {
  test('that failed with 409 is replayed with its first request id after the conflict is gone', async () => {
    const key = newKey()
    const path = `${at}/taken`
    succeed(await world.call('PUT', path, { data: {} }), 201)
    const first = await world.call('POST', at, { id: 'taken', data: {} }, key)
    expectFailure(first, 'CONFLICT')
    succeed(await world.call('DELETE', path))
    const again = await world.call('POST', at, { id: 'taken', data: {} }, key)
    expect([again.status, again.text, isReplay(again)]).toEqual([409, first.text, true])
    expectFailure(await world.call('GET', path), 'NOT_FOUND')
  })

  test('that failed with another code is not stored, and the key can be used again', {
    tags: 'full',
  }, async () => {
    const type = await world.newType({ json_schema: { type: 'object', required: ['n'] } })
    const path = `/v1/crm/records/${type}/a`
    const key = newKey()
    const put = (body: unknown, target = path) => world.call('PUT', target, body, key)
    expectFault(await put({ dta: 1 }), '/dta')
    expectFailure(await put({ data: {} }), 'VALIDATION_ERROR')
    expectFailure(await put({ data: {} }, '/v1/crm/records/none/a'), 'NOT_FOUND')
    expectFailure(await world.call('PATCH', path, { data: {} }, key), 'NOT_FOUND')
    const { call } = await world.newToken([{ permission: 'read' }])
    expectFailure(await call('PUT', path, { data: { n: 1 } }, key), 'FORBIDDEN')
    expect(await stored(key)).toEqual([])
    succeed(await put({ data: { n: 1 } }), 201)
    expect(isReplay(await put({ data: { n: 1 } }))).toBe(true)
  })

  test.each(['', 'a b', 'x'.repeat(256), 'é', '\t'])('is 400 when the key is malformed: %j', async (key) => {
    const before = await total()
    const answer = await world.call('POST', at, { data: {} }, { 'idempotency-key': key })
    expectFault(answer, 'header/Idempotency-Key')
    expect(await total()).toBe(before)
  })

  test.each(['!', '~'.repeat(255), 'a,b;c="d"'])('is accepted with the key %s', async (key) => {
    succeed(await world.call('POST', at, { data: {} }, { 'idempotency-key': key }), 201)
  })
})

test('a dry run does not store or replay a key', async () => {
  const key = newKey()
  const dry = () => world.call('POST', `${at}?dry_run=true`, { data: {} }, key)
  const [one, two] = [succeed(await dry(), 201), succeed(await dry(), 201)]
  expect(one.id).not.toBe(two.id)
  expect(await stored(key)).toEqual([])
  succeed(await world.call('POST', at, { data: {} }, key), 201)
})

test('a dry run under the key of a write says that this is why it is refused', async () => {
  const key = newKey()
  succeed(await world.call('POST', at, { data: {} }, key), 201)
  const { message } = expectFailure(
    await world.call('POST', `${at}?dry_run=true`, { data: {} }, key),
    'CONFLICT',
  )
  expect(message).toBe(
    'A write has used this Idempotency-Key, and this is a dry run. Send dry runs before the write, or without a key.',
  )
})

test('a tool and a mutation that were rehearsed under a key write under it once', {
  tags: 'full',
}, async () => {
  const record_type = await world.newType()
  const tool = async (more: object) =>
    (
      await callTool(world, '/mcp/crm', 'upsert_record', {
        record_type,
        id: 'a',
        data: {},
        idempotency_key: 'rehearsed',
        ...more,
      })
    ).body
  expect(await tool({ dry_run: true })).toMatchObject({ dry_run: true })
  const written = await tool({})
  expect(written).toMatchObject({ id: 'a', version: 1 })
  expect(await tool({})).toEqual(written)
  const query = (dry: string) =>
    `mutation { createRecord(base: "crm", recordType: "${record_type}", data: {}, idempotencyKey: "mutated"${dry}) { id } }`
  const create = async (dry = '') => (await world.call('POST', '/graphql', { query: query(dry) })).body
  expect(await create(', dryRun: true')).not.toHaveProperty('errors')
  const created = await create()
  expect(created).not.toHaveProperty('errors')
  expect(await create()).toEqual(created)
})

test('the secret of a created token is masked in the replay, and not stored', { tags: 'full' }, async () => {
  const key = newKey()
  const body = {
    name: 't',
    grants: [{ base: 'crm', record_type: '*', environment: '*', permission: 'read' }],
  }
  const first = succeed(await world.call('POST', '/v1/tokens', body, key), 201)
  const again = await world.call('POST', '/v1/tokens', body, key)
  expect(isReplay(again)).toBe(true)
  expect(again.body).toEqual({ ...first, token: `plt_…${first.token.slice(-4)}` })
  const [row] = await stored(key)
  expect(JSON.stringify(row)).not.toContain(first.token.slice(4, -4))
  expect(succeed(await world.as(first.token)('GET', '/v1/bases')).data).toHaveLength(1)
})

test('a replay checks the grants of the token again', { tags: 'full' }, async () => {
  succeed(await world.call('PUT', '/v1/bases/passing', {}), 201)
  succeed(await world.call('PUT', '/v1/passing/record-types/task', {}), 201)
  const { call } = await world.newToken([{ base: ['crm', 'passing'], permission: 'write' }])
  const key = newKey()
  const post = () => call('POST', '/v1/passing/records/task', { data: {} }, key)
  succeed(await post(), 201)
  expect(isReplay(await post())).toBe(true)
  succeed(await world.call('DELETE', '/v1/bases/passing?confirm=passing'))
  expectFailure(await post(), 'FORBIDDEN')
})

test('a key is stored in the transaction of its write: either both commit or neither', {
  tags: 'full',
}, async () => {
  const [one, two] = [newKey(), newKey()]
  const poison = { 'x-request-id': 'poison' }
  await world.database.query(
    `ALTER TABLE plinth.change ADD CONSTRAINT no_poison CHECK (request_id <> 'poison') NOT VALID`,
  )
  expectFailure(await world.call('PUT', `${at}/p1`, { data: {} }, { ...one, ...poison }), 'INTERNAL_ERROR')
  await world.database.query('ALTER TABLE plinth.change DROP CONSTRAINT no_poison')
  expect(await stored(one)).toEqual([])

  await world.database.query(
    'ALTER TABLE plinth.idempotency ADD CONSTRAINT no_outcome CHECK (outcome IS NULL) NOT VALID',
  )
  expectFailure(await world.call('PUT', `${at}/p2`, { data: {} }, two), 'INTERNAL_ERROR')
  await world.database.query('ALTER TABLE plinth.idempotency DROP CONSTRAINT no_outcome')
  expect(await stored(two)).toEqual([])
  for (const id of ['p1', 'p2']) expectFailure(await world.call('GET', `${at}/${id}`), 'NOT_FOUND')

  succeed(await world.call('PUT', `${at}/p1`, { data: {} }, one), 201)
  const [row] = await stored(one)
  expect(row?.outcome).toMatchObject({ answer: { id: 'p1', version: 1 } })
})

describe('The stored hash of a request', () => {
  const KEYED = /^h1\.[0-9a-f]{16}\.[\w-]{43}$/
  const url = 'https://hooks.example.com'
  /** What a plain hash of a PUT would be. */
  const plain = (path: string, params: object, body: object) =>
    digest(['rest', 'PUT', path, params, {}, null, null, body])
  const hashOf = async (key: Record<string, string>) => (await stored(key))[0]?.fingerprint

  test('is keyed if the request can carry secrets, so that it confirms no guess', {
    tags: 'full',
  }, async () => {
    const secret = 'whsec_c2hvcnQtc2VjcmV0LW9mLWEtdHJpZ2dlcg=='
    succeed(await world.call('POST', '/v1/crm/preview', { name: 'keyed-hash' }), 201)
    const webhook = { record_type: at.split('/')[4], signature: { scheme: 'github' } }
    const config = { plinth: 1, base: 'crm', triggers: [{ id: 'signed', url, secret }] }
    const requests: [string, string, object, object][] = [
      ['PUT', '/v1/vault/secrets/PIN', { value: '0000' }, { value: '0001' }],
      ['PUT', '/v1/crm/triggers/signed', { url, secret }, { url }],
      ['PATCH', '/v1/crm/triggers/signed', { secret }, { name: 'x' }],
      ['PUT', '/v1/crm/inbound-webhooks/signed', { ...webhook, secret }, webhook],
      ['PATCH', '/v1/crm/inbound-webhooks/signed', { secret: 'another-secret-of-it' }, { name: 'x' }],
      ['PUT', '/v1/crm--keyed-hash/config', config, { plinth: 1, base: 'crm' }],
    ]
    for (const [method, path, body, other] of requests) {
      const key = newKey()
      const first = await world.call(method, path, body, key)
      expect(first.status, first.text).toBeLessThan(300)
      expect(await hashOf(key), path).toMatch(KEYED)
      const again = await world.call(method, path, body, key)
      expect([again.status, isReplay(again)], path).toEqual([first.status, true])
      expectDetail(await world.call(method, path, other, key), 409, { code: 'key_reused' })
    }
    const key = newKey()
    const mutation =
      'mutation ($key: String!) { putSecret(name: "PIN", input: { value: "0001" }, idempotencyKey: $key) { version } }'
    const answer = await world.call('POST', '/graphql', {
      query: mutation,
      variables: { key: key['idempotency-key'] },
    })
    expect(succeed(answer).errors).toBeUndefined()
    expect(await hashOf(key)).toMatch(KEYED)
  })

  test('is plain for other requests', async () => {
    const key = newKey()
    succeed(await world.call('PUT', `${at}/plain-hash`, { data: { n: 1 } }, key), 201)
    const params = { base_id: 'crm', record_type: at.split('/')[4], id: 'plain-hash' }
    expect(await hashOf(key)).toBe(plain('/:base_id/records/:record_type/:id', params, { data: { n: 1 } }))
  })

  test('of an earlier version recognizes its request, and no other', { tags: 'full' }, async () => {
    const key = newKey()
    const [path, body] = ['/v1/vault/secrets/EARLIER', { value: '0000' }]
    const first = await world.call('PUT', path, body, key)
    await world.database.query('UPDATE plinth.idempotency SET fingerprint = $2 WHERE key = $1', [
      key['idempotency-key'],
      plain('/vault/secrets/:name', { name: 'EARLIER' }, body),
    ])
    const again = await world.call('PUT', path, body, key)
    expect([again.status, again.text, isReplay(again)]).toEqual([201, first.text, true])
    expectDetail(await world.call('PUT', path, { value: '0001' }, key), 409, { code: 'key_reused' })
  })
})

test('retries reach servers with other master keys, but for requests that carry secrets', {
  tags: 'full',
}, async () => {
  const [first, second] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')]
  const old = await openWorld({ PLINTH_MASTER_KEY: first })
  const path = `/v1/crm/records/${await old.newType()}/kept`
  const [record, secret] = [newKey(), newKey()]
  const both = await openWorld({ PLINTH_MASTER_KEY: `${second},${first}` }, old.database)
  const renewed = await openWorld({ PLINTH_MASTER_KEY: second }, old.database)
  const put = (server: World) => server.call('PUT', '/v1/vault/secrets/PIN', { value: '0000' }, secret)
  try {
    succeed(await old.call('PUT', path, { data: { n: 1 } }, record), 201)
    succeed(await put(old), 201)
    for (const server of [both, renewed])
      expect(isReplay(await server.call('PUT', path, { data: { n: 1 } }, record))).toBe(true)
    expect(isReplay(await put(both))).toBe(true)
    expectDetail(await put(renewed), 409, { code: 'key_of_other_master_key' })
    expect(succeed(await renewed.call('GET', '/v1/vault/secrets/PIN')).version).toBe(1)
  } finally {
    await renewed.close()
    await both.close()
    await old.close()
  }
})
