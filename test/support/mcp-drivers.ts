/** Third-party MCP clients behind a common interface. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createMCPClient } from '@ai-sdk/mcp'
import { Experimental_StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio'
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from '@modelcontextprotocol/client'
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { commandOf, type Run, runNode } from './run.ts'
import type { Body } from './server.ts'

type Called = { isError: boolean; body: Body; text: string }
export type Driver = {
  list(): Promise<string[]>
  call(name: string, args: Record<string, unknown>): Promise<Called>
  close(): Promise<void>
}
/** Connection parameters of a server: URL, token, base and transport. */
export type Door = { way: 'http' | 'stdio'; url: string; token: string; base: string }

const BIN = fileURLToPath(new URL('../../bin/plinth.mjs', import.meta.url))
const INFO = { name: 'test', version: '1.0.0' }
/** Home directory for command-line clients. */
const home = mkdtempSync(join(tmpdir(), 'plinth-home-'))

const bearer = ({ token }: Door) => ({ authorization: `Bearer ${token}` })
const address = ({ url, base }: Door) => new URL(`/mcp/${base}`, url)
const command = ({ url, token, base }: Door) => ({
  command: process.execPath,
  args: [BIN, 'mcp', '--base', base],
  env: { ...process.env, PLINTH_URL: url, PLINTH_TOKEN: token } as Record<string, string>,
})

/** The common interface of both SDKs and the AI SDK. */
type SdkClient = {
  listTools(): Promise<{ tools: { name: string }[] }>
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<Body>
  close(): Promise<void>
}

const ofClient = (client: SdkClient): Driver => ({
  list: async () => (await client.listTools()).tools.map(({ name }) => name),
  call: async (name, args) => asCalled(await client.callTool({ name, arguments: args })),
  close: () => client.close(),
})

const asCalled = (result: Body): Called => ({
  isError: result.isError === true,
  body: result.structuredContent,
  text: result.content[0].text,
})

export const transportOne = (door: Door): Transport =>
  (door.way === 'http'
    ? new StreamableHTTPClientTransport(address(door), { requestInit: { headers: bearer(door) } })
    : new StdioClientTransport({ ...command(door), stderr: 'ignore' })) as Transport

export const transportTwo = (door: Door) =>
  door.way === 'http'
    ? new ModernHttp(address(door), { requestInit: { headers: bearer(door) } })
    : new ModernStdio({ ...command(door), stderr: 'ignore' })

async function sdkOne(door: Door): Promise<Driver> {
  const client = new Client(INFO)
  await client.connect(transportOne(door))
  return ofClient(client as SdkClient)
}

const MODES = { legacy: 'legacy', auto: 'auto', modern: { pin: '2026-07-28' } } as const
type Mode = keyof typeof MODES

const sdkTwo = (mode: Mode) => async (door: Door) => {
  const client = new ModernClient(INFO, { versionNegotiation: { mode: MODES[mode] } })
  await client.connect(transportTwo(door))
  return ofClient(client as SdkClient)
}

async function aiSdk(door: Door): Promise<Driver> {
  const transport =
    door.way === 'http'
      ? { type: 'http' as const, url: address(door).href, headers: bearer(door) }
      : new Experimental_StdioMCPTransport({ ...command(door), stderr: 'ignore' })
  return ofClient(await createMCPClient({ transport }))
}

/**
 * Runs the CLI of the MCP Inspector once.
 * @returns its raw output
 */
export function inspect(door: Door, era: Mode, args: readonly string[]): Promise<Run> {
  const { command: node, args: server } = command(door)
  const way =
    door.way === 'http'
      ? [
          address(door).href,
          '--transport',
          'http',
          '--header',
          `Authorization: ${bearer(door).authorization}`,
        ]
      : ['--transport', 'stdio', '-e', `PLINTH_URL=${door.url}`, '-e', `PLINTH_TOKEN=${door.token}`]
  const target = door.way === 'http' ? [] : ['--', node, ...server]
  const options = ['--protocol-era', era, '--format', 'json', ...args]
  return runNode(
    commandOf('@modelcontextprotocol/inspector', 'mcp-inspector'),
    ['--cli', ...way, ...options, ...target],
    { HOME: home },
  )
}

const inspector = (era: Mode) => async (door: Door) => {
  const ask = async (...args: string[]) => {
    const { out, err } = await inspect(door, era, args)
    if (!out) throw new Error(err)
    return JSON.parse(out).result
  }
  return {
    list: async () => (await ask('--method', 'tools/list')).tools.map(({ name }: Body) => name),
    call: async (name: string, args: object) =>
      asCalled(
        await ask('--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)),
      ),
    close: async () => {},
  }
}

async function mcporter(door: Door): Promise<Driver> {
  const { command: node, args: server } = command(door)
  const way =
    door.way === 'http'
      ? [
          '--allow-http',
          '--http-url',
          address(door).href,
          '--header',
          `Authorization=${bearer(door).authorization}`,
        ]
      : [
          ...['--stdio', node, ...server.flatMap((arg) => ['--stdio-arg', arg])],
          ...['--env', `PLINTH_URL=${door.url}`, '--env', `PLINTH_TOKEN=${door.token}`],
        ]
  const ask = async (...args: string[]) => {
    const { out, err, code } = await runNode(commandOf('mcporter', 'mcporter'), args, { HOME: home })
    if (!out) throw new Error(err)
    return { code, body: JSON.parse(out) }
  }
  return {
    list: async () => (await ask('list', ...way, '--json')).body.tools.map(({ name }: Body) => name),
    // The CLI prints the content of a result; its exit code says whether the result is an error.
    call: async (name, args) => {
      const { code, body } = await ask(
        'call',
        ...way,
        name,
        '--args',
        JSON.stringify(args),
        '--output',
        'json',
      )
      return { isError: code !== 0, body, text: JSON.stringify(body) }
    },
    close: async () => {},
  }
}

/** Drivers by the name that tests print. */
export const DRIVERS = {
  'SDK v1': sdkOne,
  'SDK v2 legacy': sdkTwo('legacy'),
  'SDK v2 auto': sdkTwo('auto'),
  'SDK v2 modern': sdkTwo('modern'),
  'AI SDK': aiSdk,
  'Inspector legacy': inspector('legacy'),
  'Inspector auto': inspector('auto'),
  'Inspector modern': inspector('modern'),
  mcporter,
} satisfies Record<string, (door: Door) => Promise<Driver>>
