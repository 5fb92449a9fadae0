/** Errors name requests in the terms of each surface: HTTP a method and a path, MCP a tool. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OPERATION_NAMES } from '../../src/contract/batch-shapes.ts'
import { HTTP_REQUESTS } from '../../src/foundation/advised-requests.ts'
import { ACCOUNT, GENERIC } from '../../src/mcp/plinth-provider.ts'
import { MCP_REQUESTS } from '../../src/mcp/protocol/advised-tools.ts'
import { succeed } from '../support/answers.ts'
import { callTool } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

const HTTP = /\b(GET|PUT|POST|PATCH|DELETE) \/|\/v1\b|[?]confirm|Idempotency-Key|<<\w+>>/

/** Texts that no MCP client gets: a line of the log at startup, and the web addresses of records and files. */
const NOT_ERRORS = [
  'configuration/tokens/admin.ts',
  'search-fetch/search-and-fetch.ts',
  'search-fetch/file-documents.ts',
]

const sources = ['engine', 'contract', 'graphql', 'mcp', 'dialects', 'json'].flatMap((folder) =>
  readdirSync(join('src', folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/^(prisma|endpoint)\//.test(file))
    .filter((file) => !NOT_ERRORS.some((each) => file.endsWith(each)))
    .map((file) => join('src', folder, file)),
)
/** The string literals of a source, without comments. */
const literalsOf = (text: string): string[] =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .filter((line) => !/^\s*\/\//.test(line))
    .flatMap((line) => line.match(/'[^']*'|"[^"]*"|`[^`]*`?/g) ?? [])

test('no text below the HTTP surfaces names a request of the HTTP API', () => {
  const found = sources.flatMap((file) =>
    literalsOf(readFileSync(file, 'utf8'))
      .filter((text) => HTTP.test(text))
      .map((text) => `${file}: ${text}`),
  )
  expect(found).toEqual([])
})

test('the requests of MCP name no path, and the tools and operations in them exist', () => {
  expect(Object.keys(MCP_REQUESTS)).toEqual(Object.keys(HTTP_REQUESTS))
  const tools = new Set<string>([
    ...GENERIC.map(({ name }) => name),
    ...ACCOUNT.map(({ name }) => name),
    ...OPERATION_NAMES,
  ])
  for (const words of Object.values(MCP_REQUESTS)) {
    expect(words).not.toMatch(HTTP)
    for (const [name] of words.matchAll(/\b[a-z]+(?:_[a-z]+)+\b/g))
      expect(tools.has(name) || name === 'idempotency_key', name).toBe(true)
  }
})

describe('the same failure', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
    succeed(await world.call('PUT', '/v1/crm/record-types/deal', {}), 201)
    succeed(await world.call('PUT', '/v1/crm/records/deal/d1', { data: {} }), 201)
    const first = { record_type: 'deal', data: { n: 1 }, idempotency_key: 'once' }
    await callTool(world, '/mcp/crm', 'upsert_record', { ...first, id: 'k' })
    const http = await world.call('PUT', '/v1/crm/records/deal/k', { data: {} }, { 'idempotency-key': 'one' })
    succeed(http)
  })
  afterAll(() => world.close())

  test.each<[string, Body, string, [string, string, object?, Record<string, string>?]]>([
    [
      'sql_query',
      { query: 'DELETE FROM deal' },
      'sql_write',
      ['POST', '/v1/crm/sql', { query: 'DELETE FROM deal' }],
    ],
    [
      'upsert_record',
      { record_type: 'deal', id: 'k', data: { n: 2 }, idempotency_key: 'once' },
      'idempotency_key',
      ['PUT', '/v1/crm/records/deal/k', { data: { n: 3 } }, { 'idempotency-key': 'one' }],
    ],
    ['list_types', { base_id: 'absent' }, 'list_bases', ['GET', '/v1/bases/absent']],
  ])(
    'of %s names a tool over MCP and a request over HTTP',
    async (tool, args, named, [method, path, body, headers]) => {
      const { error } = await callTool(world, 'base_id' in args ? '/mcp' : '/mcp/crm', tool, args)
      const said = JSON.stringify([error.message, ...error.details.map(({ message }: Body) => message)])
      expect(said).not.toMatch(HTTP)
      expect(said).toContain(named)
      const { text } = await world.call(method, path, body, headers)
      expect(text).toMatch(/(GET|PUT|POST) \/v1|Idempotency-Key/)
      expect(text).not.toMatch(/<<\w+>>/)
    },
  )
})
