/** `plinth status`: which server commands reach, and whether the token holds. */
import type { Command } from 'commander'
import { call } from './command/client.ts'
import { configure } from './command/commander.ts'
import { Failure } from './command/failure.ts'
import { showJson, showRows } from './command/print.ts'
import {
  announcedUrl,
  type Flags,
  readSettings,
  type Settings,
  serverUrl,
  tokenFile,
  tokenFor,
} from './command/settings.ts'

type Check = { check: string; result: string; ok: boolean }

const PATIENCE_MS = 5000

export function addStatus(program: Command, fail: () => void): void {
  configure(
    program.command('status').alias('doctor').description('Show which server is used, and what is wrong'),
  ).action(async () => {
    const checks = await check(readSettings(program.opts<Flags>()))
    const body = { ok: checks.every(({ ok }) => ok), checks }
    if (program.opts<Flags>().json) showJson({ text: JSON.stringify(body), body, replayed: false })
    else showRows(checks, ['check', 'result', 'ok'])
    if (!body.ok) fail()
  })
}

async function check(settings: Settings): Promise<Check[]> {
  const url = serverUrl(settings)
  const from = settings.namedUrl ? 'named' : announcedUrl(settings) ? 'of the data directory' : 'the default'
  const file = tokenFile(url, settings)
  const token = settings.namedToken ? 'named' : file
  const ready = await readiness(url)
  return [
    { check: 'node', result: process.versions.node, ok: true },
    { check: 'data directory', result: settings.dataDir, ok: true },
    { check: 'server', result: `${url} (${from})`, ok: true },
    ready,
    { check: 'token', result: token ?? 'none: set PLINTH_TOKEN, or pass --token', ok: token !== undefined },
    ...(ready.ok && token !== undefined ? [await access(url, settings)] : []),
  ]
}

/** What `/readyz` says. */
async function readiness(url: string): Promise<Check> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(PATIENCE_MS) })
    const { status, database } = (await response.json()) as { status?: string; database?: string }
    return { check: 'readiness', result: `${status}, database ${database}`, ok: response.ok }
  } catch {
    return { check: 'readiness', result: `no Plinth answers. Start one with "plinth serve"`, ok: false }
  }
}

/** Whether the server takes the token, and the bases that it reaches. */
async function access(url: string, settings: Settings): Promise<Check> {
  const request = {
    method: 'GET' as const,
    path: '/bases',
    query: new URLSearchParams({ limit: '5', include_total: 'true' }),
    headers: {},
    body: undefined,
    streams: false,
  }
  try {
    const { data, meta } = (await call(url, tokenFor(url, settings), request)).body as {
      data: { id: string }[]
      meta: { total: number }
    }
    const more = meta.total > data.length ? ', …' : ''
    return {
      check: 'bases',
      result: `${meta.total}: ${data.map(({ id }) => id).join(', ')}${more}`,
      ok: true,
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { check: 'bases', result: `${error.body.error.code}: ${error.message}`, ok: false }
  }
}
