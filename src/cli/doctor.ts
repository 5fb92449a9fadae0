/** `plinth doctor`: which server commands reach, and what is wrong with it, or here. */
import { readFileSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { readConfig } from '../config/read-config.ts'
import { LIMITS } from '../foundation/limits.ts'
import { call, get } from './command/client.ts'
import { configure } from './command/command.ts'
import { Failure, toFailure } from './command/failure.ts'
import { printLine, showJson, showRows } from './command/print.ts'
import {
  announcedUrl,
  type Flags,
  readSettings,
  type Settings,
  serverUrl,
  tokenFile,
  tokenFor,
} from './command/settings.ts'

type Status = 'ok' | 'warning' | 'error'
type Check = { name: string; status: Status; message: string }

export function addDoctor(program: Command, fail: () => void): void {
  configure(
    program
      .command('doctor')
      .alias('status')
      .description('Check the server, and how this machine reaches it. Exit code 1: an error'),
  ).action(async () => {
    const checks = await check(readSettings(program.opts<Flags>()))
    const status =
      (['error', 'warning'] as const).find((each) => checks.some((one) => one.status === each)) ?? 'ok'
    const body = { status, checks }
    if (program.opts<Flags>().json) showJson({ text: JSON.stringify(body), body, replayed: false })
    else showChecks(checks)
    if (status === 'error') fail()
  })
}

async function check(settings: Settings): Promise<Check[]> {
  const url = serverUrl(settings)
  const from = settings.namedUrl ? 'named' : announcedUrl(settings) ? 'of the data directory' : 'the default'
  const token = settings.namedToken ? 'named' : tokenFile(url, settings)
  const ready = await readiness(url, settings)
  const isReady = ready.status === 'ok'
  return [
    { name: 'server', status: 'ok', message: `${url} (${from}), from Node ${process.versions.node}.` },
    ready,
    dataDirectory(settings),
    ...(isReady || settings.namedUrl !== undefined ? [] : await beforeStart(settings)),
    token === undefined
      ? { name: 'token', status: 'error', message: 'There is none. Set PLINTH_TOKEN, or pass --token.' }
      : { name: 'token', status: 'ok', message: token },
    ...(isReady && token !== undefined ? await ofServer(url, settings) : []),
  ]
}

/** What `/readyz` says. */
async function readiness(url: string, settings: Settings): Promise<Check> {
  const name = 'readiness'
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(LIMITS.doctorMs) })
    const { status, database } = (await response.json()) as { status?: string; database?: string }
    const message = `${status}${database === undefined ? '' : `, database ${database}`}`
    return { name, status: response.ok ? 'ok' : 'error', message }
  } catch (error) {
    const left = leftProcess(settings)
    const why =
      error instanceof SyntaxError
        ? 'What answers there is not Plinth. Check the port.'
        : 'No Plinth answers. Start one with "plinth serve".'
    return {
      name,
      status: 'error',
      message:
        left === undefined
          ? why
          : `${why} The last one, process ${left}, ended without a shutdown: see its log.`,
    }
  }
}

/** The process that the data directory names as its server, if it has ended. */
function leftProcess({ dataDir, namedUrl }: Settings): number | undefined {
  if (namedUrl !== undefined) return undefined
  try {
    const { pid } = JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8')) as { pid: number }
    try {
      process.kill(pid, 0)
      return undefined
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ESRCH' ? pid : undefined
    }
  } catch {
    return undefined
  }
}

/** Files with secrets. */
const PRIVATE = ['admin-token', 'master-key']

function dataDirectory({ dataDir }: Settings): Check {
  const name = 'data_directory'
  const modeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mode
  if (modeOf(dataDir) === undefined)
    return { name, status: 'ok', message: `${dataDir} is not there yet. "plinth serve" makes it.` }
  const open = PRIVATE.map((file) => join(dataDir, file)).filter(
    (path) => ((modeOf(path) ?? 0) & 0o077) !== 0,
  )
  if (open.length === 0 || process.platform === 'win32') return { name, status: 'ok', message: dataDir }
  return {
    name,
    status: 'error',
    message: `Other users of this machine can read ${open.join(', ')}. Run: chmod 600 ${open.join(' ')}`,
  }
}

/** What a server would start with here. */
async function beforeStart({ dataDir }: Settings): Promise<Check[]> {
  const settings: Check = { name: 'settings', status: 'ok', message: 'A server would start with them.' }
  try {
    const { unknownSettings } = readConfig(process.env)
    if (unknownSettings.length > 0)
      Object.assign(settings, {
        status: 'warning',
        message: `Unknown, without effect: ${unknownSettings.join(', ')}.`,
      })
  } catch (error) {
    Object.assign(settings, { status: 'error', message: toFailure(error).message })
  }
  const room = await statfs(dataDir).catch(() => undefined)
  if (room === undefined) return [settings]
  const free = room.bavail * room.bsize
  const message = `${(free / 1024 ** 3).toFixed(1)} GiB are free on the disk of the data directory.`
  return [settings, { name: 'disk', status: free < LIMITS.lowDisk.error.bytes ? 'error' : 'ok', message }]
}

/** The bases that the token reaches, and what the server finds. */
async function ofServer(url: string, settings: Settings): Promise<Check[]> {
  const token = tokenFor(url, settings)
  try {
    const query = new URLSearchParams({ limit: '5', include_total: 'true' })
    const { data, meta } = (await call(url, token, get('/bases', query))).body as {
      data: { id: string }[]
      meta: { total: number }
    }
    const more = meta.total > data.length ? ', …' : ''
    const bases = `${meta.total}${data.length > 0 ? ': ' : ''}${data.map(({ id }) => id).join(', ')}${more}`
    const found = await call(url, token, get('/diagnostics')).then(
      ({ body }) => (body as { checks: Check[] }).checks,
      unchecked,
    )
    return [{ name: 'bases', status: 'ok', message: bases }, ...found]
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return [{ name: 'bases', status: 'error', message: `${error.body.error.code}: ${error.message}` }]
  }
}

/** A token of a user may not see the server. That is no fault. */
function unchecked(error: unknown): Check[] {
  if (!(error instanceof Failure) || error.body.error.code !== 'FORBIDDEN') throw error
  return [
    {
      name: 'diagnostics',
      status: 'warning',
      message: 'The server was not checked: that needs a token with admin on all bases.',
    },
  ]
}

const COLORS = { warning: 'yellow', error: 'red' } as const

/** A line for each check, whole on a terminal too: a message says what to do. */
function showChecks(checks: readonly Check[]): void {
  if (!process.stdout.isTTY) showRows(checks, ['name', 'status', 'message'])
  else
    for (const { name, status, message } of checks)
      printLine(
        `${status.padEnd(8)} ${name.padEnd(15)} ${message}`,
        status === 'ok' ? undefined : COLORS[status],
      )
}
