// @module-tag full
/** Clients that nobody changed connect from nothing but the address: a person clicks the consent in a browser. */
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../src/postgres/windows.ts'
import { succeed } from '../support/answers.ts'
import { CHROMIUM, openBrowser } from '../support/browser.ts'
import { scratch } from '../support/scratch.ts'
import { SELF_SIGNED } from '../support/self-signed.ts'
import { openWorld, type World } from '../support/world.ts'

const TIME = { timeout: 60_000 }
let world: World
let browser: Browser
let mia: string
let trusted: string[]
beforeAll(async () => {
  if (!CHROMIUM) return
  // The server reads metadata by https only; this is the authority of the test.
  trusted = tls.getCACertificates('default')
  tls.setDefaultCACertificates([...trusted, SELF_SIGNED.cert])
  world = await openWorld({
    PLINTH_OAUTH_SERVER: 'on',
    PLINTH_OAUTH_REGISTRATION: 'on',
    PLINTH_ALLOW_PRIVATE_TARGETS: 'localhost',
  })
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', {}), 201)
  ;({ token: mia } = await world.newToken([{ base: 'crm', permission: 'write' }], {
    name: 'Mia',
    kind: 'person',
  }))
  browser = await openBrowser()
}, 60_000)
afterAll(async () => {
  if (!CHROMIUM) return
  tls.setDefaultCACertificates(trusted)
  await browser.close()
  await world.close()
})

/** What the person does: signs in, and allows. Returns what the browser refused meanwhile. */
async function consent(address: string, arrives: Promise<unknown>): Promise<void> {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    const faults: string[] = []
    page.on('console', (message) => {
      // The programs of clients serve no icon, and stop soon.
      const isFault = message.type() === 'error' && !message.text().startsWith('Failed to load resource')
      if (isFault) faults.push(message.text())
    })
    await page.goto(address)
    await page.getByLabel('Your token').fill(mia)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByLabel('What may it do there?').selectOption('write')
    await page.getByRole('button', { name: 'Allow' }).click()
    await arrives
    expect(faults).toEqual([])
  } finally {
    await context.close()
  }
}

/** The address of a program of this machine that waits for the answer, as each client has one. */
async function openCallback() {
  let arrive: (query: URLSearchParams) => void = () => {}
  const answer = new Promise<URLSearchParams>((resolve) => {
    arrive = resolve
  })
  const http = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://x')
    response.end('connected')
    if (url.pathname === '/callback') arrive(url.searchParams)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/callback`
  return { url, answer, close: () => http.close() }
}

/** The memory that both SDKs ask their program for. */
function memory(redirectUrl: string, clientMetadataUrl?: string) {
  const kept: { client?: object; tokens?: object; verifier?: string; address?: URL } = {}
  const provider = {
    redirectUrl,
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    clientMetadata: { client_name: 'Desk Pilot', redirect_uris: [redirectUrl] },
    clientInformation: () => kept.client as { client_id: string } | undefined,
    saveClientInformation: (client: object) => {
      kept.client = client
    },
    tokens: () => kept.tokens as { access_token: string; token_type: string } | undefined,
    saveTokens: (tokens: object) => {
      kept.tokens = tokens
    },
    redirectToAuthorization: (address: URL) => {
      kept.address = address
    },
    saveCodeVerifier: (verifier: string) => {
      kept.verifier = verifier
    },
    codeVerifier: () => kept.verifier ?? '',
  }
  return { kept, provider }
}

/** Serves the metadata of a client at an https address, as clients on the internet do. */
async function openMetadata(redirectUri: string) {
  const https = createTlsServer(SELF_SIGNED, (_request, response) =>
    response.end(JSON.stringify({ client_id: id, client_name: 'Desk Pilot', redirect_uris: [redirectUri] })),
  )
  await new Promise<void>((resolve) => https.listen(0, 'localhost', resolve))
  const id = `https://localhost:${(https.address() as AddressInfo).port}/pilot`
  return { id, close: () => https.close() }
}

const INFO = { name: 'test', version: '1.0.0' }
const ERAS = {
  'SDK 1': (provider: ReturnType<typeof memory>['provider']) => {
    const open = () =>
      new StreamableHTTPClientTransport(new URL(`${world.url}/mcp/crm`), { authProvider: provider })
    return {
      client: () => new Client(INFO),
      open,
      finish: (of: ReturnType<typeof open>, sent: URLSearchParams) => of.finishAuth(sent.get('code') ?? ''),
    }
  },
  'SDK 2': (provider: ReturnType<typeof memory>['provider']) => {
    const open = () => new ModernTransport(new URL(`${world.url}/mcp/crm`), { authProvider: provider })
    const client = () => new ModernClient(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    return {
      client,
      open,
      finish: (of: ReturnType<typeof open>, sent: URLSearchParams) => of.finishAuth(sent),
    }
  },
} as const

// The consent is clicked in a browser, which some machines do not have.
test.skipIf(!CHROMIUM).each([
  ['SDK 1', false],
  ['SDK 1', true],
  ['SDK 2', false],
  ['SDK 2', true],
] as const)(
  '%s (known by its metadata: %s) connects, calls a tool and renews',
  TIME,
  async (era, hasMetadata) => {
    const callback = await openCallback()
    const metadata = hasMetadata ? await openMetadata(callback.url) : undefined
    try {
      const { kept, provider } = memory(callback.url, metadata?.id)
      const { client, open, finish } = ERAS[era](provider)
      const first = open()
      await expect(client().connect(first as Transport & never)).rejects.toThrow()
      expect(kept.address?.origin).toBe(world.url)
      await consent(kept.address?.href ?? '', callback.answer)
      await finish(first as never, await callback.answer)
      if (metadata) expect(kept.client).toMatchObject({ client_id: metadata.id })
      const connected = client()
      await connected.connect(open() as Transport & never)
      const made = await connected.callTool({ name: 'create_deal', arguments: {} })
      expect(made.isError ?? false).toBe(false)
      // The token ends: the client gets another by itself.
      await world.database.query(
        `UPDATE plinth.token SET expires_at = now() - interval '1 s' WHERE name = 'Desk Pilot'`,
      )
      await world.database.query(
        `SELECT pg_notify('plinth_caches', 'token:' || encode(hash, 'hex')) FROM plinth.token`,
      )
      const before = kept.tokens
      // The server hears of it a moment later.
      const call = world.as(provider.tokens()?.access_token ?? '')
      await expect.poll(async () => (await call('GET', '/v1/crm/records/deal')).status).toBe(401)
      const again = client()
      await again.connect(open() as Transport & never)
      expect((await again.listTools()).tools.length).toBeGreaterThan(5)
      expect(kept.tokens).not.toEqual(before)
      await connected.close()
      await again.close()
    } finally {
      callback.close()
      metadata?.close()
    }
  },
)

/** Runs a client of the command line, and does what it asks the person for. Returns what it prints. */
async function runClient(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<string> {
  const child = spawn(`node_modules/.bin/${command}`, args, { env: { ...process.env, ...env } })
  let printed = ''
  let consenting: Promise<void> | undefined
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const read = (chunk: Buffer) => {
    printed += chunk.toString()
    const address = /http:\/\/127\.0\.0\.1:\d+\/oauth\/authorize\?[^\s"']+(?=[\s"'])/.exec(printed)?.[0]
    if (address !== undefined) consenting ??= consent(address.replace('\\u0026', '&'), ended)
  }
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  await ended
  await consenting
  expect(consenting, printed).toBeDefined()
  return printed
}

// The same for these two.
test.skipIf(!CHROMIUM)('mcporter connects', TIME, async () => {
  const env = { HOME: await scratch('plinth-mcporter-'), XDG_CONFIG_HOME: '', XDG_DATA_HOME: '' }
  const target = ['--http-url', `${world.url}/mcp/crm`, '--allow-http', '--name', 'desk']
  const printed = await runClient('mcporter', ['auth', ...target, '--no-browser'], env)
  expect(printed).toMatch(/authoriz/i)
})

test.skipIf(!CHROMIUM)('the Inspector connects', TIME, async () => {
  const env = { HOME: await scratch('plinth-inspector-'), MCP_AUTO_OPEN_ENABLED: 'true', DISPLAY: '' }
  const args = [
    '--cli',
    '--server-url',
    `${world.url}/mcp/crm`,
    '--transport',
    'http',
    '--method',
    'tools/list',
  ]
  const printed = await runClient(
    'mcp-inspector',
    [...args, '--callback-url', `http://127.0.0.1:${await freePort()}/oauth/callback`],
    env,
  )
  expect(printed).toContain('create_deal')
})
