import { readdirSync } from 'node:fs'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { frontPage } from '../../src/http/front-page.ts'
import { GUIDES } from '../../src/http/guides.ts'
import { openServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await openServer()
})
afterAll(() => server.close())

const page = (path: string) => server.as(null)('GET', path, undefined, { accept: 'text/html,*/*;q=0.8' })

test('GET / returns a JSON index of the interfaces, each of which exists', { tags: 'full' }, async () => {
  const answer = await server.as(null)('GET', '/')
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  expect(answer.headers.get('vary')).toMatch(/accept/i)
  const { name, description, rest, mcp, ...pages } = answer.body
  expect([name, typeof description, rest, mcp]).toEqual(['plinth', 'string', '/v1', '/mcp'])
  for (const path of Object.values<string>(pages))
    expect([path, (await page(path)).status]).toEqual([path, 200])
})

test('browsers get the explorer at / and below /b/, under a policy without scripts or styles of others', {
  tags: 'full',
}, async () => {
  for (const path of ['/', '/b/crm', '/b/crm/t/deal/a%2Fb', '/b/none']) {
    const { status, headers, text } = await page(path)
    expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8'])
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/)
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'")
    expect(policy).not.toContain('unsafe')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(headers.get('vary')).toMatch(/accept/i)
    expect(headers.get('cache-control')).toBe('no-cache')
    expect(text).not.toMatch(/<script>|<style|https?:/)
    for (const [, file = ''] of text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)) {
      const { status: found, headers: sent } = await server.as(null)('GET', file)
      expect([file, found]).toEqual([file, 200])
      expect(sent.get('cache-control')).toContain('immutable')
    }
  }
})

test('programs get no page below /b/, and files that the explorer does not have are 404', async () => {
  for (const path of ['/b/crm', '/assets/nothing.js', '/assets/..%2F..%2Fpackage.json', '/assets/index.html'])
    expect([path, (await server.as(null)('GET', path)).body.error.code]).toEqual([path, 'NOT_FOUND'])
})

test('/privacy says what the server keeps, or leads to the policy of who runs it; / names where to get help', async () => {
  const own = await page('/privacy')
  expect([own.status, own.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  for (const word of ['calls_days', 'hashes', 'history_days']) expect(own.text).toContain(word)
  expect((await server.as(null)('GET', '/')).body).not.toHaveProperty('support')
  const app = Fastify()
  const operator = { privacyUrl: 'https://example.com/privacy', support: 'help@example.com' }
  await app.register(frontPage(async () => undefined, operator, []))
  const { statusCode, headers } = await app.inject({ url: '/privacy' })
  expect([statusCode, headers.location]).toEqual([302, operator.privacyUrl])
  expect((await app.inject({ url: '/' })).json()).toMatchObject({
    privacy: '/privacy',
    support: 'mailto:help@example.com',
  })
})

test('without a built explorer, a page names the command that builds it', async () => {
  const app = Fastify()
  await app.register(frontPage(async () => undefined, {}, []))
  const { body, headers } = await app.inject({ url: '/', headers: { accept: 'text/html' } })
  expect(headers['content-security-policy']).toMatch(/^default-src 'none'/)
  for (const word of ['npm run web', 'href="/graphql"', 'href="/docs/"', 'href="/guides"'])
    expect(body).toContain(word)
  expect((await app.inject({ url: '/' })).json()).toMatchObject({ name: 'plinth', rest: '/v1' })
  expect((await app.inject({ url: '/b/crm', headers: { accept: 'text/html' } })).statusCode).toBe(404)
  await app.close()
})

test('/guides serves every guide of docs/ and no other file', { tags: 'full' }, async () => {
  const files = readdirSync('docs').filter((file) => file.endsWith('.md') && file !== 'README.md')
  expect(GUIDES.map(({ name }) => `${name}.md`).sort()).toEqual(files.sort())
  for (const { name, title } of GUIDES) {
    const { status, text } = await page(`/guides/${name}`)
    expect([name, status]).toEqual([name, 200])
    expect(text).toContain(`<title>${title} – Plinth</title>`)
  }
  for (const name of ['README', 'nothing', '..%2Fpackage.json', 'adr'])
    expect([name, (await page(`/guides/${name}`)).status]).toEqual([name, 404])
})

test('every link in the guides has a page and a heading as its target', { tags: 'full' }, async () => {
  const ids = new Map<string, Set<string>>()
  const texts = new Map<string, string>()
  for (const { name } of GUIDES) {
    const { text } = await page(`/guides/${name}`)
    texts.set(name, text)
    ids.set(name, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id ?? '')))
  }
  const broken: string[] = []
  for (const [from, text] of texts)
    for (const [, name = '', anchor] of text.matchAll(/href="(?:\/guides\/([\w-]+))?(?:#([^"]+))?"/g)) {
      const target = ids.get(name || from)
      if (!target || (anchor !== undefined && !target.has(anchor))) broken.push(`${from}: ${name}#${anchor}`)
    }
  expect(broken).toEqual([])
})

test('the search of the guides finds sections with all words, and shows a query as text', {
  tags: 'full',
}, async () => {
  const search = async (q: string) => (await page(`/guides?q=${encodeURIComponent(q)}`)).text
  expect(await search('keyset pagination')).toContain('<a href="/guides/query#')
  expect(await search('bucket')).toContain('href="/guides/s3')
  const none = await search('<script>alert(1)</script>')
  expect(none).toContain('0 sections with “&#60;script')
  expect(none).not.toContain('<script')
  expect(await search(`${'x'.repeat(5000)}`)).toContain('0 sections')
  const { text, headers } = await page('/guides/query')
  expect(text).toContain('<a href="/guides/query" aria-current="page">Queries</a>')
  expect(text).toContain('<a class="anchor" href="#filter"')
  expect(headers.get('content-security-policy')).toContain("form-action 'self'")
})

test('the 404 of an unknown route contains the route without its query', async () => {
  const { status, body } = await server.as(null)('POST', '/nowhere?token=secret')
  expect(status).toBe(404)
  expect(body.error.message).toBe('No route matches POST /nowhere.')
  const long = await server.as(null)('GET', `/${'x'.repeat(4000)}`)
  expect(long.body.error.message.length).toBeLessThan(200)
})
