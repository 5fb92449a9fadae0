import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { misused } from './failure.ts'

/** The flags that every command takes. */
export type Flags = { url?: string; token?: string; base?: string; json?: boolean }

/** Which server is meant and who asks: flags before the environment before the data directory. */
export type Settings = {
  /** The address that the caller named; undefined when it is for us to find. */
  namedUrl: string | undefined
  dataDir: string
  base: string | undefined
  namedToken: string | undefined
}

const STANDARD_URL = 'http://127.0.0.1:4000'
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

export function readSettings(flags: Flags, env: NodeJS.ProcessEnv = process.env): Settings {
  const url = flags.url ?? set(env['PLINTH_URL'])
  return {
    namedUrl: url === undefined ? undefined : checkUrl(url),
    dataDir: resolve(set(env['PLINTH_DATA_DIR']) ?? '.plinth'),
    base: flags.base ?? set(env['PLINTH_BASE']),
    namedToken: flags.token ?? set(env['PLINTH_TOKEN']),
  }
}

/** An empty variable is one that is not set. */
const set = (value: string | undefined): string | undefined => (value === '' ? undefined : value)

function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash)
    throw misused(
      `The server address "${text}" is not valid. Send http://… or https://… without user, query or fragment.`,
    )
  return url.href.replace(/\/+$/, '')
}

/** Where the server of the data directory says that it listens. */
export function announcedUrl({ dataDir }: Settings): string | undefined {
  try {
    const { url } = JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8')) as { url?: unknown }
    return typeof url === 'string' ? url.replace(/\/+$/, '') : undefined
  } catch {
    return undefined
  }
}

/** The server that a command asks. */
export const serverUrl = (settings: Settings): string =>
  settings.namedUrl ?? announcedUrl(settings) ?? STANDARD_URL

/** Where the data directory keeps its token, if that is the one that is shown to the server. */
export const tokenFile = (url: string, settings: Settings): string | undefined =>
  settings.namedToken === undefined && tokenFor(url, settings) !== undefined
    ? join(settings.dataDir, 'admin-token')
    : undefined

/** The token to show to a server. The data directory's own goes to this machine only: elsewhere it would be given away. */
export function tokenFor(url: string, settings: Settings): string | undefined {
  if (settings.namedToken !== undefined) return settings.namedToken
  if (!LOOPBACK.test(new URL(url).hostname) && url !== announcedUrl(settings)) return undefined
  try {
    return readFileSync(join(settings.dataDir, 'admin-token'), 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}
