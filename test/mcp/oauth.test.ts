import { createHmac } from 'node:crypto'
import { UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AUDIENCE, openIssuer, type TestIssuer } from '../support/issuer.ts'
import { callTool, connect, rpc } from '../support/mcp.ts'
import { type Answer, openServer, type TestServer } from '../support/server.ts'

const WRITER = [{ base: 'crm', record_type: '*', environment: 'production', permission: 'write' }]
const READER = [{ base: 'crm', record_type: 'task', environment: '*', permission: 'read' }]
const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const HOUR = 3600
const seconds = () => Math.floor(Date.now() / 1000)

let issuer: TestIssuer
let server: TestServer

const settings = () => ({ PLINTH_OAUTH_ISSUER: issuer.url, PLINTH_OAUTH_AUDIENCE: AUDIENCE })
const prepare = async (to: TestServer) => {
  for (const base of ['crm', 'other']) await to.call('PUT', `/v1/bases/${base}`, {})
  await to.call('PUT', '/v1/crm/record-types/task', {})
  await to.call('PUT', '/v1/crm/record-types/secret', {})
}
beforeAll(async () => {
  issuer = await openIssuer()
  server = await openServer({ ...settings(), PLINTH_OAUTH_SCOPES: 'plinth offline_access' })
  await prepare(server)
})
afterAll(async () => {
  await server.close()
  await issuer.close()
})

const ping = (token: string | null, path = '/mcp/crm', to = server) =>
  rpc(to, path, 'ping', undefined, { token })
const challenge = ({ headers }: Answer) => headers.get('www-authenticate') ?? ''
const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('the protected resource metadata', () => {
  test.each(['', '/mcp', '/mcp/crm', '/mcp/crm--try', '/mcp/nowhere', '/mcp/crm/e/Sales.v1'])(
    'is served for "%s" without a token, with absolute URLs',
    async (path) => {
      const { status, body, headers } = await server.as(null)('GET', `${WELL_KNOWN}${path}`)
      expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
      expect(body).toEqual({
        resource: `${server.url}${path || '/mcp'}`,
        resource_name: 'Plinth',
        authorization_servers: [issuer.url],
        scopes_supported: ['plinth', 'offline_access'],
        bearer_methods_supported: ['header'],
      })
    },
  )

  test('is 404 for a path that is not an MCP URL', async () => {
    for (const path of ['/mcp/No_Base', '/mcp/crm/e/.x', '/mcp/', '/v1', '/mcp/crm/x'])
      expect((await server.as(null)('GET', WELL_KNOWN + path)).status, path).toBe(404)
  })

  test('contains the public URL when one is set', { tags: 'full' }, async () => {
    const shared = await openServer(
      { ...settings(), PLINTH_PUBLIC_URL: 'https://data.example/' },
      server.database,
    )
    try {
      const at = server.url
      const port = JSON.stringify(shared.log).match(/listening at http:\/\/127\.0\.0\.1:(\d+)/)?.[1]
      const response = await fetch(`http://127.0.0.1:${port}${WELL_KNOWN}/mcp/crm`)
      expect(await response.json()).toMatchObject({ resource: 'https://data.example/mcp/crm' })
      const refused = await fetch(`http://127.0.0.1:${port}/mcp/crm`, { method: 'POST' })
      expect(refused.headers.get('www-authenticate')).toContain(
        `resource_metadata="https://data.example${WELL_KNOWN}/mcp/crm"`,
      )
      expect(refused.headers.get('www-authenticate')).not.toContain(at)
    } finally {
      await shared.close()
    }
  })
})

describe('the WWW-Authenticate challenge', () => {
  test('contains the metadata URL and the scopes when there is no token', async () => {
    for (const path of ['/mcp', '/mcp/crm', '/mcp/crm?readonly=1', '/mcp/nowhere']) {
      const answer = await ping(null, path)
      const address = path.replace(/\?.*/, '')
      expect(answer.status).toBe(401)
      expect(challenge(answer)).toBe(
        `Bearer realm="plinth", resource_metadata="${server.url}${WELL_KNOWN}${address}", scope="plinth offline_access"`,
      )
    }
  })

  test('contains the error when the token is expired or unknown', async () => {
    const old = await issuer.sign({ exp: seconds() - HOUR, plinth_grants: WRITER })
    const answer = await ping(old)
    expect(answer.status).toBe(401)
    expect(challenge(answer)).toContain('error="invalid_token", error_description="The token has expired."')
    expect(answer.body.error.data.error).toMatchObject({
      code: 'UNAUTHORIZED',
      details: [{ path: 'header/Authorization', code: 'invalid_token' }],
    })
    expect(challenge(await ping('plt_nobody'))).toContain('error="invalid_token"')
  })

  test('contains no text from the request path', async () => {
    const answer = await ping(null, '/mcp/x%22,%20resource_metadata=%22http:%2f%2fevil')
    expect(challenge(answer)).not.toMatch(/evil/)
    expect(challenge(answer)).toContain(`resource_metadata="${server.url}${WELL_KNOWN}/mcp"`)
  })
})

describe('an issuer token', () => {
  test('has exactly the permissions of its grants', { tags: 'full' }, async () => {
    const token = await issuer.sign({ plinth_grants: READER })
    const { body } = await rpc(server, '/mcp/crm', 'tools/list', undefined, { token })
    const names = body.result.tools.map((tool: { name: string }) => tool.name)
    expect(names).toContain('query_records')
    expect(names).not.toContain('upsert_record')
    const hidden = await callTool(server, '/mcp/crm', 'query_records', { record_type: 'secret' }, { token })
    expect(hidden.error).toMatchObject({ code: 'FORBIDDEN' })
    const seen = await callTool(server, '/mcp/crm', 'query_records', { record_type: 'task' }, { token })
    expect(seen.body).toHaveProperty('data')
  })

  test('is accepted from a v1 and a modern client', { tags: 'full' }, async () => {
    const token = await issuer.sign({ plinth_grants: WRITER })
    for (const dialect of ['v1', 'modern'] as const) {
      const client = await connect(server.url, token, dialect, '/mcp/crm')
      expect((await client.listTools()).tools.length).toBeGreaterThan(5)
      await client.close()
    }
  })

  test('is accepted with grants as JSON text, several audiences, and any or no "typ" of an access token', async () => {
    expect((await ping(await issuer.sign({ plinth_grants: JSON.stringify(WRITER) }))).status).toBe(200)
    expect(
      (await ping(await issuer.sign({ aud: ['x', AUDIENCE, AUDIENCE], plinth_grants: WRITER }))).status,
    ).toBe(200)
    for (const typ of [undefined, 'JWT', 'AT+JWT', 'application/at+jwt'])
      expect((await ping(await issuer.sign({ plinth_grants: WRITER }, { header: { typ } }))).status).toBe(200)
  })

  test('is in the change log by subject and client, with the same token_id after a renewal', {
    tags: 'full',
  }, async () => {
    const call = async (claims: object, id: string) => {
      const token = await issuer.sign({ plinth_grants: WRITER, ...claims })
      const args = { record_type: 'task', id, data: {} }
      expect((await callTool(server, '/mcp/crm', 'upsert_record', args, { token })).error).toBeUndefined()
      const { body } = await server.call('GET', `/v1/crm/records/task/${id}/history`)
      return body.data[0].actor
    }
    const [first, second, other] = [
      await call({ client_id: 'claude' }, 'a'),
      await call({ client_id: 'claude', jti: 'another' }, 'b'),
      await call({ sub: 'bob\u202e\n\u0000' }, 'c'),
    ]
    expect(first).toMatchObject({ name: 'alice (claude)', kind: 'agent', via: 'mcp' })
    expect(first.token_id).toMatch(/^oauth:[\w-]{43}$/)
    expect(second).toEqual(first)
    expect(other.name).toBe('bob')
    expect(other.token_id).not.toBe(first.token_id)
  })

  test('replays its own idempotency keys after a renewal; another subject has separate keys', {
    tags: 'full',
  }, async () => {
    const write = async (claims: object, title: string) => {
      const token = await issuer.sign({ plinth_grants: WRITER, ...claims })
      const args = { record_type: 'task', data: { title }, external_id: title, idempotency_key: 'once' }
      return callTool(server, '/mcp/crm', 'upsert_record', args, { token })
    }
    const first = await write({}, 'one')
    expect((await write({ jti: 'renewed' }, 'one')).body).toEqual(first.body)
    expect((await write({}, 'two')).error).toMatchObject({ code: 'CONFLICT' })
    expect((await write({ sub: 'bob' }, 'two')).error).toBeUndefined()
  })

  test.each<[string, string, object]>([
    [
      'a batch',
      'batch',
      {
        operations: [
          { type: 'create_record', record_type: 'task', data: {} },
          { type: 'create_record', record_type: 'secret', data: { text: 'canary' } },
        ],
      },
    ],
    [
      'links',
      'link_records',
      {
        ...{ rel_type: 'near', source_record_type: 'task', source_id: 'from' },
        ...{ target_record_type: 'secret', target_id: 'to', data: { text: 'canary' } },
      },
    ],
    [
      'an upsert with links',
      'upsert_record',
      {
        ...{ record_type: 'task', external_id: 'linked', data: {} },
        relationships: [{ rel_type: 'near', record_type: 'secret', id: 'to', data: { text: 'canary' } }],
      },
    ],
  ])('replays %s only with grants for all of its types', async (_name, tool, args) => {
    await server.call('PUT', '/v1/crm/relationship-types/near', {})
    for (const at of ['task/from', 'secret/to'])
      await server.call('PUT', `/v1/crm/records/${at}`, { data: {} })
    const call = async (record_type: string) => {
      const grants = [{ ...WRITER[0], record_type }]
      const token = await issuer.sign({ sub: 'carol', plinth_grants: grants, jti: record_type })
      return callTool(server, '/mcp/crm', tool, { ...args, idempotency_key: `replay-${tool}` }, { token })
    }
    const first = await call('*')
    expect(first.error).toBeUndefined()
    const narrower = await call('task')
    expect(narrower.error).toMatchObject({ code: 'FORBIDDEN' })
    expect(JSON.stringify(narrower)).not.toContain('canary')
    expect((await call('*')).body).toEqual(first.body)
  })

  test('with fewer grants replays a result that these grants allow', async () => {
    const call = async (record_type: string) => {
      const token = await issuer.sign({ sub: 'dave', plinth_grants: [{ ...WRITER[0], record_type }] })
      const args = { record_type: 'task', data: {}, external_id: 'narrow', idempotency_key: 'narrow' }
      return callTool(server, '/mcp/crm', 'upsert_record', args, { token })
    }
    const first = await call('*')
    expect(first.error).toBeUndefined()
    expect((await call('task')).body).toEqual(first.body)
  })

  test('with an endpoint grant reaches that endpoint only', { tags: 'full' }, async () => {
    const tools = [{ record_type: 'task', operations: ['list', 'create'] }]
    await server.call('PUT', '/v1/crm/endpoints/tasks', { tools })
    const grants = [{ base: 'crm', endpoint: 'tasks', environment: 'production', permission: 'read' }]
    const token = await issuer.sign({ sub: 'erin', plinth_grants: grants })
    const { body } = await rpc(server, '/mcp/crm/e/tasks', 'tools/list', {}, { token })
    expect(body.result.tools.map(({ name }: { name: string }) => name)).toEqual(['list_task'])
    for (const path of ['/mcp', '/mcp/crm', '/mcp/other', '/mcp/crm/e/absent'])
      expect((await ping(token, path)).status, path).toBe(403)
    const both = [{ ...grants[0], record_type: 'task' }]
    expect((await ping(await issuer.sign({ plinth_grants: both }), '/mcp/crm/e/tasks')).status).toBe(403)
  })

  test('approves a change-set, and its approval counts, though no token of Plinth has it', {
    tags: 'full',
  }, async () => {
    const rules = { settings: { change_sets: { approvals: 1, self_approval: false } } }
    await server.call('PUT', '/v1/bases/agreed', rules)
    await server.call('PUT', '/v1/agreed/record-types/task', {})
    await server.call('POST', '/v1/agreed/preview', { name: 'fix', copy: 'on_write' })
    await server.call('PUT', '/v1/agreed--fix/records/task/t1', { data: {} })
    const token = await issuer.sign({
      plinth_grants: [{ ...WRITER[0], base: 'agreed', environment: '*' }],
    })
    const promote = () => server.call('POST', '/v1/agreed/promote', { from: 'agreed--fix' })
    expect((await promote()).status).toBe(409)
    const args = { from: 'agreed--fix', verdict: 'approve', revision: 1 }
    expect((await callTool(server, '/mcp/agreed', 'review', args, { token })).error).toBeUndefined()
    expect((await promote()).status).toBe(200)
  })

  test('is refused by REST and GraphQL', async () => {
    const token = await issuer.sign({ plinth_grants: WRITER })
    expect((await server.as(token)('GET', '/v1/bases')).status).toBe(401)
    expect((await server.as(token)('POST', '/graphql', { query: '{ __typename }' })).status).toBe(401)
    expect(token.length).toBeLessThanOrEqual(512)
  })
})

describe('a long request ends with its token', () => {
  /** A token that expires in some seconds, including the clock tolerance. */
  const short = (claims = {}) => issuer.sign({ exp: seconds() - 6, plinth_grants: WRITER, ...claims })

  test('a wait ends when its token expires, and a wait with another token continues', {
    tags: 'full',
  }, async () => {
    const wait = (token: string) =>
      callTool(server, '/mcp/crm', 'work', { action: 'wait', record_type: 'awaited', timeout: 60 }, { token })
    await server.call('PUT', '/v1/crm/record-types/awaited', {})
    const long = wait(await issuer.sign({ sub: 'bob', plinth_grants: WRITER }))
    expect((await wait(await short())).body.data).toEqual([])
    await server.call('PUT', '/v1/crm/records/awaited/a1', { data: {} })
    expect((await long).body.data).toMatchObject([{ id: 'a1' }])
  })

  test('a session stream ends, and the session accepts the next token of the same subject', {
    tags: 'full',
  }, async () => {
    const opening = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'raw', version: '0' },
    }
    const long = await issuer.sign({ plinth_grants: WRITER })
    const opened = await rpc(server, '/mcp/crm', 'initialize', opening, { token: long })
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    const stream = await fetch(`${server.url}/mcp/crm`, {
      headers: { ...session, accept: 'text/event-stream', authorization: `Bearer ${await short()}` },
    })
    expect(stream.status).toBe(200)
    await stream.text()
    const again = (token: string) => rpc(server, '/mcp/crm', 'ping', undefined, { token, headers: session })
    expect((await again(await issuer.sign({ jti: 'renewed', plinth_grants: WRITER }))).status).toBe(200)
    expect((await again(await issuer.sign({ sub: 'bob', plinth_grants: WRITER }))).status).toBe(404)
    expect((await again(server.adminToken)).status).toBe(404)
  })
})

describe('an issuer token is refused', () => {
  const refused = async (token: string) => {
    const answer = await ping(token)
    expect(answer.status, answer.text).toBe(401)
    expect(challenge(answer)).toContain('error="invalid_token"')
    return answer.body.error.message as string
  }
  const grants = { plinth_grants: WRITER }

  test.each<[string, object, RegExp]>([
    ['for another audience', { aud: 'https://other.example' }, /not for "https:\/\/data.example\/mcp"/],
    ['for no audience', { aud: undefined }, /"aud"|not for/],
    ['for an audience that merely begins alike', { aud: `${AUDIENCE}/crm` }, /not for/],
    ['of another issuer', { iss: 'https://other.example' }, /missing or not valid/],
    ['that names no issuer', { iss: undefined }, /missing or not valid/],
    ['that is over', { exp: seconds() - 11 }, /expired/],
    ['without an end', { exp: undefined }, /"exp"/],
    ['that has not begun', { nbf: seconds() + HOUR }, /not valid yet/],
    ['of nobody', { sub: undefined }, /"sub"/],
    ['of an empty subject', { sub: '' }, /subject/],
    ['whose end is no number', { exp: 'never' }, /"exp"/],
  ])('%s', async (_, claims, message) => {
    expect(await refused(await issuer.sign({ ...grants, ...claims }))).toMatch(message)
  })

  test('with a "typ" other than an access token', async () => {
    for (const typ of ['logout+jwt', 'dpop+jwt', 'secevent+jwt'])
      expect(await refused(await issuer.sign(grants, { header: { typ } }))).toMatch(/not an access token/)
  })

  test('without a signature, or with an HMAC of the public key', async () => {
    const claims = { iss: issuer.url, aud: AUDIENCE, sub: 'alice', exp: seconds() + HOUR, ...grants }
    await refused(new UnsecuredJWT(claims).encode())
    const [published] = issuer.published
    const text = `${base64({ alg: 'HS256', kid: published?.kid, typ: 'at+jwt' })}.${base64(claims)}`
    const secret = JSON.stringify(published?.jwk)
    await refused(`${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`)
  })

  test('with the signature of another key and a key id of the issuer', async () => {
    const forged = await issuer.newKey('ES256', issuer.published[0]?.kid)
    expect(await refused(await issuer.sign(grants, { key: forged }))).toMatch(
      /signature of the token is not valid/,
    )
  })

  test('with its own key or an unknown critical header', async () => {
    const own = await issuer.newKey('ES256', 'mine')
    for (const header of [
      { jwk: own.jwk, kid: undefined },
      { jku: 'http://127.0.0.1:1/keys' },
      { crit: ['x'], x: 1 },
    ])
      await refused(await issuer.sign(grants, { key: own, header }).catch(() => 'a.b.c'))
  })

  test('with changed claims or of more than 8 KiB', async () => {
    const [header, , signature] = (await issuer.sign(grants)).split('.')
    const claims = { iss: issuer.url, aud: AUDIENCE, sub: 'root', exp: seconds() + HOUR, ...grants }
    await refused(`${header}.${base64(claims)}.${signature}`)
    const long = await issuer.sign({ ...grants, padding: 'x'.repeat(8192) })
    await refused(long)
    expect(issuer.asked.filter((path) => path === '/keys').length).toBeLessThan(5)
  })
})

describe('an issuer token with insufficient grants', () => {
  test.each<[string, unknown, string]>([
    ['are missing', undefined, 'no_grants'],
    ['are none', [], 'too_small'],
    ['are no list', { base: '*' }, 'type'],
    ['are text that is no JSON', 'admin', 'malformed_json'],
    ['name a level that there is not', [{ ...WRITER[0], permission: 'root' }], 'enum'],
    ['have a key that there is not', [{ ...WRITER[0], bases: '*' }], 'unknown_key'],
    ['lack a dimension', [{ base: '*', permission: 'read' }], 'required'],
    ['have one grant of many out of form', [...WRITER, { base: 1 }], 'type'],
  ])('is 403 insufficient_scope when its grants %s', async (_, claim, code) => {
    const answer = await ping(await issuer.sign({ plinth_grants: claim }))
    expect(answer.status).toBe(403)
    expect(challenge(answer)).toContain('error="insufficient_scope"')
    expect(challenge(answer)).toContain('scope="plinth offline_access"')
    const { error } = answer.body.error.data
    expect(error.code).toBe('FORBIDDEN')
    expect(error.details.map((detail: { code: string }) => detail.code)).toContain(code)
    expect(error.details[0].path).toMatch(/^header\/Authorization/)
  })

  test('is 403 insufficient_scope for another base, with the same message whether or not it exists', async () => {
    const token = await issuer.sign({ plinth_grants: WRITER })
    const [real, absent] = [await ping(token, '/mcp/other'), await ping(token, '/mcp/nowhere')]
    for (const answer of [real, absent]) {
      expect(answer.status).toBe(403)
      expect(challenge(answer)).toContain('error="insufficient_scope"')
    }
    expect(absent.body.error.message).toBe(real.body.error.message.replace('other', 'nowhere'))
  })

  test('of Plinth itself is 403 for another base without a challenge', async () => {
    const made = await server.call('POST', '/v1/tokens', { name: 'own', grants: WRITER })
    const answer = await ping(made.body.token, '/mcp/other')
    expect([answer.status, challenge(answer)]).toEqual([403, ''])
    expect((await ping(made.body.token)).status).toBe(200)
  })
})

test('without an issuer there is no metadata, and the 401 tells how to create a token', {
  tags: 'full',
}, async () => {
  const plain = await openServer({}, server.database)
  try {
    for (const path of ['', '/mcp', '/mcp/crm'])
      expect((await plain.as(null)('GET', `${WELL_KNOWN}${path}`)).status).toBe(404)
    const answer = await ping(null, '/mcp/crm', plain)
    expect([answer.status, challenge(answer)]).toEqual([401, 'Bearer realm="plinth", error="invalid_token"'])
    expect(answer.text).toMatch(/plinth token create/)
    expect((await ping(await issuer.sign({ plinth_grants: WRITER }), '/mcp/crm', plain)).status).toBe(401)
  } finally {
    await plain.close()
  }
})
