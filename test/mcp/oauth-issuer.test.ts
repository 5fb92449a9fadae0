import type { JSONWebKeySet, JWSHeaderParameters } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/read-config.ts'
import { keyRing } from '../../src/oauth/keys.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { AUDIENCE, openIssuer, type TestIssuer } from '../support/issuer.ts'
import { rpc } from '../support/mcp.ts'
import { openServer, type TestServer } from '../support/server.ts'

const GRANTS = [{ base: '*', record_type: '*', environment: '*', permission: 'read' }]

let database: TestDatabase
let issuer: TestIssuer
let server: TestServer
const closing: (() => Promise<void>)[] = []

const open = async (options: Parameters<typeof openIssuer>[0] = {}) => {
  issuer = await openIssuer(options)
  server = await openServer({ PLINTH_OAUTH_ISSUER: issuer.url, PLINTH_OAUTH_AUDIENCE: AUDIENCE }, database)
  closing.push(issuer.close, server.close)
}
const ping = (token: string) => rpc(server, '/mcp', 'ping', undefined, { token })
const statusOf = async (claims = {}, signing = {}) =>
  (await ping(await issuer.sign({ plinth_grants: GRANTS, ...claims }, signing))).status

beforeAll(async () => {
  database = await cloneDatabase()
})
afterEach(async () => {
  for (let close = closing.pop(); close; close = closing.pop()) await close()
})
afterAll(() => database.drop())

test('signing keys are discovered by OAuth or OpenID metadata and loaded once', {
  tags: 'full',
}, async () => {
  const paths = {
    '/tenants/a': '/.well-known/oauth-authorization-server/tenants/a',
    '/tenants/b/': '/tenants/b/.well-known/openid-configuration',
  }
  for (const [path, metadata] of Object.entries(paths)) {
    await open({ path, metadata })
    expect(await Promise.all([statusOf(), statusOf(), statusOf()])).toEqual([200, 200, 200])
    expect(await statusOf()).toBe(200)
    expect(issuer.asked.filter((asked) => asked === metadata)).toHaveLength(1)
    expect(issuer.asked.filter((asked) => asked === '/keys')).toHaveLength(1)
  }
})

test('a new signing key is loaded on first use, and the previous key remains valid', {
  tags: 'full',
}, async () => {
  await open()
  const [old] = issuer.published
  expect(await statusOf()).toBe(200)
  const next = await issuer.newKey('RS256', 'next')
  issuer.published.push(next)
  expect(await statusOf({}, { key: next })).toBe(200)
  expect(await statusOf({}, { key: old })).toBe(200)
})

test('tokens with 20 unknown key ids cause at most 3 requests for keys', { tags: 'full' }, async () => {
  await open()
  expect(await statusOf()).toBe(200)
  const forged = await Promise.all(
    Array.from({ length: 20 }, (_, i) => issuer.newKey('ES256', `forged-${i}`)),
  )
  for (const key of forged) expect(await statusOf({}, { key })).toBe(401)
  expect(issuer.asked.filter((asked) => asked === '/keys').length).toBeLessThanOrEqual(3)
  expect(await statusOf()).toBe(200)
})

test('while the issuer is unreachable its tokens are 500 with Retry-After, and own tokens are accepted', {
  tags: 'full',
}, async () => {
  await open()
  const token = await issuer.sign({ plinth_grants: GRANTS })
  issuer.intervene((_, response) => {
    response.destroy()
    return true
  })
  for (let i = 0; i < 6; i++) {
    const { status, body, headers } = await ping(token)
    expect(status).toBe(500)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(body.error.data.error).toMatchObject({
      code: 'INTERNAL_ERROR',
      details: [{ code: 'issuer_unreachable' }],
    })
  }
  expect(issuer.asked.length).toBeLessThanOrEqual(6)
  expect((await ping(server.adminToken)).status).toBe(200)
  expect(server.log.join('')).toMatch(/metadata cannot be read/)
})

test('loaded keys remain valid while the issuer is unreachable', { tags: 'full' }, async () => {
  await open()
  expect(await statusOf()).toBe(200)
  issuer.intervene((_, response) => {
    response.writeHead(503).end()
    return true
  })
  expect(await statusOf()).toBe(200)
})

describe('signing keys are not loaded', () => {
  test.each<[string, (host: { origin: string; url: string }) => object | string]>([
    ['from another origin', ({ url }) => ({ issuer: url, jwks_uri: 'http://localhost:9/keys' })],
    ['from a file', ({ url }) => ({ issuer: url, jwks_uri: 'file:///etc/passwd' })],
    [
      'by the metadata of another issuer',
      ({ origin, url }) => ({ issuer: `${url}/x`, jwks_uri: `${origin}/keys` }),
    ],
    ['by metadata without keys', ({ url }) => ({ issuer: url })],
    ['by metadata that is no JSON', () => 'nonsense'],
    ['by metadata that has no end', () => `"${'x'.repeat(300_000)}"`],
  ])('%s', { tags: 'full' }, async (_, metadata) => {
    await open()
    issuer.intervene((request, response) => {
      if (request.url === '/keys') return false
      const answer = metadata({ origin: issuer.origin, url: issuer.url })
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
      return true
    })
    expect(await statusOf()).toBe(500)
    expect(issuer.asked).not.toContain('/keys')
  })

  test('from a redirect', { tags: 'full' }, async () => {
    await open()
    issuer.intervene((request, response) => {
      if (request.url !== '/keys') return false
      response.writeHead(302, { location: `${issuer.origin}/elsewhere` }).end()
      return true
    })
    expect(await statusOf()).toBe(500)
    expect(issuer.asked).not.toContain('/elsewhere')
  })

  test('when they are symmetric or malformed', { tags: 'full' }, async () => {
    await open()
    issuer.intervene((request, response) => {
      if (request.url !== '/keys') return false
      response.end(
        JSON.stringify({ keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'k1', alg: 'HS256' }, { kid: 'k1' }] }),
      )
      return true
    })
    expect(await statusOf()).not.toBe(200)
  })

  test('when they are too weak or off their curve: the issuer is at fault, and not the token', {
    tags: 'full',
  }, async () => {
    await open()
    const own = await issuer.newKey('ES256', 'k1')
    const weak: object = { kty: 'RSA', n: 'AQAB', e: 'AQAB', kid: 'k1', alg: 'RS256' }
    const off: object = { ...own.jwk, x: 'AAAA', y: 'AAAA' }
    const rsa = await issuer.newKey('RS256', 'k1')
    for (const [keys, key] of [
      [[off], own],
      [[weak], rsa],
    ] as const) {
      issuer.intervene((request, response) => {
        if (request.url !== '/keys') return false
        response.end(JSON.stringify({ keys }))
        return true
      })
      const answer = await ping(await issuer.sign({ plinth_grants: GRANTS }, { key }))
      expect(answer.body.error.data.error).toMatchObject({
        code: 'INTERNAL_ERROR',
        details: [{ code: 'issuer_unreachable' }],
      })
    }
  })
})

test('keys are reloaded after 10 minutes, and expire after an hour without the issuer', async () => {
  const known = await openIssuer()
  closing.push(known.close)
  let now = 0
  let loads = 0
  let isAway = false
  const key = known.published[0]?.jwk ?? {}
  const ring = keyRing(
    async () => {
      loads++
      if (isAway) throw new Error('away')
      return { keys: [key] } as JSONWebKeySet
    },
    () => now,
  )
  const ask = () => ring({ alg: 'ES256', kid: 'k1' } as JWSHeaderParameters as never, {} as never)
  await ask()
  now += 9 * 60_000
  await ask()
  expect(loads).toBe(1)
  now += 2 * 60_000
  await ask()
  expect(loads).toBe(2)
  isAway = true
  now += 59 * 60_000
  await ask()
  expect(loads).toBe(3)
  now += 2 * 60_000
  await expect(ask()).rejects.toMatchObject({ code: 'INTERNAL_ERROR' })
  isAway = false
  now += 60_000
  await ask()
  expect(loads).toBe(5)
})

test('incomplete or invalid OAuth settings are refused by name', () => {
  const read = (env: Record<string, string>) => () => readConfig(env)
  const both = { PLINTH_OAUTH_ISSUER: 'https://issuer.example', PLINTH_OAUTH_AUDIENCE: 'data' }
  expect(readConfig({ ...both, PLINTH_OAUTH_SCOPES: 'a b' }).oauth).toEqual({
    issuer: 'https://issuer.example',
    audience: 'data',
    scopes: ['a', 'b'],
  })
  expect(readConfig({}).oauth).toBeUndefined()
  expect(read({ PLINTH_OAUTH_ISSUER: both.PLINTH_OAUTH_ISSUER })).toThrow(/PLINTH_OAUTH_AUDIENCE/)
  expect(read({ PLINTH_OAUTH_AUDIENCE: 'data' })).toThrow(/PLINTH_OAUTH_ISSUER/)
  for (const issuer of [
    'http://issuer.example',
    'issuer',
    'https://u@issuer.example',
    'https://i.example/?a',
    'ftp://x',
  ])
    expect(read({ ...both, PLINTH_OAUTH_ISSUER: issuer }), issuer).toThrow(/PLINTH_OAUTH_ISSUER/)
  expect(read({ ...both, PLINTH_OAUTH_SCOPES: 'a "b"' })).toThrow(/PLINTH_OAUTH_SCOPES/)
})
