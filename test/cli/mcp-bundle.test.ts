import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packExtension, unpackExtension, validateManifest } from '@anthropic-ai/mcpb'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildBundle } from '../../packages/mcpb/build.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'

let folder: string
let unpacked: string
let manifest: Body
let server: TestServer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plinth-bundle-'))
  unpacked = join(folder, 'unpacked')
  const [files, file] = [join(folder, 'files'), join(folder, 'plinth.mcpb')]
  await buildBundle(files, { privacyUrl: 'https://example.com/privacy', support: 'help@example.com' })
  expect(await packExtension({ extensionPath: files, outputPath: file, silent: true })).toBe(true)
  expect((await stat(file)).size).toBeLessThan(64 * 1024)
  expect(await unpackExtension({ mcpbPath: file, outputDir: unpacked, silent: true })).toBe(true)
  manifest = JSON.parse(await readFile(join(unpacked, 'manifest.json'), 'utf8'))
  server = await openServer()
  await server.call('PUT', '/v1/bases/crm', {})
})
afterAll(async () => {
  await server?.close()
  await rm(folder, { recursive: true, force: true })
})

/** The command with the settings inserted as a desktop client does; a missing one stays a placeholder. */
function commandWith(settings: Record<string, string>): {
  command: string
  args: string[]
  env: Record<string, string>
} {
  const { args, env } = manifest.server.mcp_config
  const fill = (text: string) =>
    text
      .replace(/\$\{__dirname\}/, () => unpacked)
      .replace(/\$\{user_config\.(\w+)\}/, (placeholder, name) => settings[name] ?? placeholder)
  const filled = Object.entries<string>(env).map(([name, text]) => [name, fill(text)])
  return { command: process.execPath, args: args.map(fill), env: Object.fromEntries(filled) }
}

test('the bundle manifest is valid, has the package version and marks the token as sensitive', async () => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8'))
  expect(validateManifest(join(unpacked, 'manifest.json'))).toBe(true)
  expect(manifest).toMatchObject({ manifest_version: '0.4', version })
  expect(manifest.user_config.token).toMatchObject({ sensitive: true, required: true })
  expect(await stat(join(unpacked, manifest.server.entry_point))).toBeTruthy()
  expect((await readFile(join(unpacked, manifest.icon))).subarray(1, 4).toString()).toBe('PNG')
  expect(manifest).toMatchObject({
    privacy_policies: ['https://example.com/privacy'],
    support: 'mailto:help@example.com',
  })
})

test('the entry point of the bundle connects with the given token, base and read-only option', {
  tags: 'full',
}, async () => {
  const settings = { url: `${server.url}/`, token: server.adminToken, base: 'crm', read_only: 'true' }
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StdioClientTransport({ ...commandWith(settings), stderr: 'ignore' }) as Transport)
  const names = (await client.listTools()).tools.map(({ name }) => name)
  await client.close()
  expect(names).toContain('query_records')
  for (const absent of ['list_bases', 'upsert_record']) expect(names).not.toContain(absent)
})

test.each<[string, Record<string, string>, RegExp]>([
  ['no address', {}, /server address is missing/],
  ['an address that is none', { url: 'data.example' }, /http:\/\/… or https:\/\/…/],
  ['an endpoint of no base', { url: 'http://127.0.0.1:1', endpoint: 'sales' }, /belongs to a base/],
])('the entry point of the bundle exits with 2 and a message for %s', async (_, settings, words) => {
  const { command, args, env } = commandWith(settings)
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk
  })
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(2)
  expect(said).toMatch(words)
})
