import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Body, openServer, type TestServer } from '../support/server.ts'
import { plinth } from './plinth.ts'

const URL_ = 'https://data.example'
const SECRET = 'plt_this-is-never-printed'
const ADDRESS = `${URL_}/mcp/crm/e/sales.v1?readonly=1`

let dataDir: string
let server: TestServer

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'plinth-config-'))
  server = await openServer()
  await server.call('PUT', '/v1/bases/crm', {})
  await writeFile(join(dataDir, 'admin-token'), `${server.adminToken}\n`)
})
afterAll(async () => {
  await server.close()
  await rm(dataDir, { recursive: true, force: true })
})

const config = (client: string, ...more: string[]) =>
  plinth(['mcp', 'config', '--client', client, ...more], { PLINTH_DATA_DIR: dataDir, PLINTH_TOKEN: SECRET })
const whole = ['--url', URL_, '--base', 'crm', '--endpoint', 'sales.v1', '--read-only']

test.each<[string, (bodies: { own: Body; named: Body }) => void]>([
  [
    'claude-code',
    ({ own }) =>
      expect(own).toEqual({
        mcpServers: {
          'plinth-crm-sales-v1': {
            type: 'http',
            url: ADDRESS,
            // biome-ignore lint/suspicious/noTemplateCurlyInString: as the client takes it.
            headers: { Authorization: 'Bearer ${PLINTH_TOKEN}' },
          },
        },
      }),
  ],
  [
    'cursor',
    ({ own }) =>
      expect(own).toEqual({
        mcpServers: {
          'plinth-crm-sales-v1': {
            url: ADDRESS,
            // biome-ignore lint/suspicious/noTemplateCurlyInString: as the client takes it.
            headers: { Authorization: 'Bearer ${env:PLINTH_TOKEN}' },
          },
        },
      }),
  ],
  [
    'vscode',
    ({ own }) => {
      expect(own.inputs).toEqual([
        { type: 'promptString', id: 'plinth-token', description: 'Plinth API token', password: true },
      ])
      expect(own.servers['plinth-crm-sales-v1']).toEqual({
        type: 'http',
        url: ADDRESS,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: as the client takes it.
        headers: { Authorization: 'Bearer ${input:plinth-token}' },
      })
    },
  ],
  [
    'claude-desktop',
    ({ own }) => {
      const { command, args, env } = own.mcpServers['plinth-crm-sales-v1']
      expect(command).toBe(process.execPath)
      expect(args.slice(1)).toEqual(['mcp', '--base', 'crm', '--endpoint', 'sales.v1', '--read-only'])
      expect(env).toEqual({ PLINTH_URL: URL_, PLINTH_TOKEN: 'paste a token here' })
    },
  ],
])(
  '`mcp config --client %s` prints the keys of the client and a token reference, never the token',
  async (client, looksRight) => {
    const [own, named] = [await config(client, ...whole), await config(client, '--url', URL_)]
    expect([own.code, named.code]).toEqual([0, 0])
    looksRight({ own: JSON.parse(own.out), named: JSON.parse(named.out) })
    const { mcpServers, servers } = JSON.parse(named.out)
    expect(Object.keys(mcpServers ?? servers)).toEqual(['plinth'])
    for (const { out, err } of [own, named]) expect(out + err).not.toContain(SECRET)
    expect(own.err).toMatch(/^Add this to .*mcp|claude_desktop_config/)
  },
)

test('`mcp config --client codex` prints TOML with bearer_token_env_var', async () => {
  const { out, err, code } = await config('codex', ...whole)
  expect(code).toBe(0)
  expect(out).toBe(
    `[mcp_servers.plinth-crm-sales-v1]\nurl = "${ADDRESS}"\nbearer_token_env_var = "PLINTH_TOKEN"\n`,
  )
  for (const line of out.trimEnd().split('\n'))
    expect(line).toMatch(/^(\[[\w.-]+\]|[a-z_]+ = "(?:[^"\\\n]|\\.)*")$/)
  expect(err).toContain('config.toml')
})

test('`mcp config` exits with 2 for an unknown, missing or repeated client, or an endpoint without base', async () => {
  const [unknown, none, orphan, twice] = [
    await config('courser'),
    await plinth(['mcp', 'config'], {}),
    await config('codex', '--endpoint', 'sales'),
    await config('codex', '--client', 'cursor'),
  ]
  for (const { code, out } of [unknown, none, orphan, twice]) expect([code, out]).toEqual([2, ''])
  expect(none.err).toContain('claude-code, claude-desktop, cursor, vscode, codex')
  expect(unknown.err).toMatch(/claude-code, claude-desktop, cursor, vscode, codex[\s\S]*hint: cursor/)
  expect(orphan.err).toContain('--base')
})

test('`mcp config` refuses a base, endpoint or tool that does not exist, and says what to do', {
  tags: 'full',
}, async () => {
  const own = ['--url', server.url]
  const ask = (...more: string[]) =>
    plinth(['mcp', 'config', '--client', 'cursor', ...own, ...more], { PLINTH_DATA_DIR: dataDir })
  const base = await ask('--base', 'crmm')
  expect([base.code, base.out]).toEqual([1, ''])
  expect(base.err).toMatch(/no base "crmm"[\s\S]*plinth base list/)
  const endpoint = await ask('--base', 'crm', '--endpoint', 'slaes')
  expect([endpoint.code, endpoint.out]).toEqual([1, ''])
  expect(endpoint.err).toMatch(/"slaes"[\s\S]*plinth endpoint list --base crm/)
  const tool = await ask('--base', 'crm', '--tools', 'qurey_records')
  expect([tool.code, tool.out]).toEqual([1, ''])
  expect(tool.err).toContain('query_records')
  const right = await ask('--base', 'crm')
  expect(right.code).toBe(0)
  expect(right.err).not.toContain('Not checked')
})

test('`mcp config` says which types do not exist, which come and go', { tags: 'full' }, async () => {
  const own = ['mcp', 'config', '--client', 'cursor', '--url', server.url, '--base', 'crm']
  const { code, out, err } = await plinth([...own, '--types', 'delas'], { PLINTH_DATA_DIR: dataDir })
  expect(code).toBe(0)
  expect(out).toContain('types=delas')
  expect(err).toContain('no record type here: delas')
})

test('`mcp config` names the skill for a base, and not for an endpoint, which lacks the tools of it', async () => {
  expect((await config('cursor', '--url', URL_, '--base', 'crm')).err).toContain('/skill')
  expect((await config('cursor', ...whole)).err).not.toContain('/skill')
})

test('`mcp config` prints the configuration where the server cannot tell, and says that it did not check', async () => {
  const away = await config('cursor', '--url', 'http://127.0.0.1:49151', '--base', 'crm')
  expect(away.code).toBe(0)
  expect(away.err).toMatch(
    /Not checked whether http:\/\/127\.0\.0\.1:49151\/mcp\/crm exists: No server listens/,
  )
  const stranger = await config('cursor', '--url', server.url, '--base', 'crm')
  expect(stranger.code).toBe(0)
  expect(stranger.err).toMatch(/Not checked .*token/)
})

test('the command printed for claude-desktop runs in any directory and reads the token itself', {
  tags: 'full',
}, async () => {
  const { out } = await config('claude-desktop', '--url', server.url, '--base', 'crm', '--read-only')
  expect(out).not.toContain(server.adminToken)
  const { command, args, env } = JSON.parse(out).mcpServers['plinth-crm']
  const transport = new StdioClientTransport({
    command,
    args,
    env: { ...getDefaultEnvironment(), ...env },
    cwd: tmpdir(),
    stderr: 'ignore',
  })
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(transport as Transport)
  const names = (await client.listTools()).tools.map(({ name }) => name)
  await client.close()
  expect(names).toContain('query_records')
  expect(names).not.toContain('upsert_record')
})
