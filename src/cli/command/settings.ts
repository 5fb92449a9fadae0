import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { misused } from './failure.ts'

/** Flags of every command. */
export type Flags = { url?: string; token?: string; base?: string; json?: boolean }

/** Connection settings. Precedence: flags, environment variables, data directory. */
export type Settings = {
  /** Explicit URL; undefined to discover the server. */
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

/** An empty variable counts as unset. */
const set = (value: string | undefined): string | undefined => (value === '' ? undefined : value)

function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash)
    throw misused(
      `The server address "${text}" is not valid. Send http://… or https://… without user, query or fragment.`,
    )
  return url.href.replace(/\/+$/, '')
}

/** URL that the server of the data directory has written there. */
export function announcedUrl({ dataDir }: Settings): string | undefined {
  try {
    const { url } = JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8')) as { url?: unknown }
    return typeof url === 'string' ? url.replace(/\/+$/, '') : undefined
  } catch {
    return undefined
  }
}

/** The server that a command connects to. */
export const serverUrl = (settings: Settings): string =>
  settings.namedUrl ?? announcedUrl(settings) ?? STANDARD_URL

/** Path of the token file in the data directory, if its token is used for this server. */
export const tokenFile = (url: string, settings: Settings): string | undefined =>
  settings.namedToken === undefined && tokenFor(url, settings) !== undefined
    ? join(settings.dataDir, 'admin-token')
    : undefined

/**
 * The token for a server. The data directory's own token is sent only to its own server or to loopback
 * addresses, so that it cannot leak.
 */
export function tokenFor(url: string, settings: Settings): string | undefined {
  if (settings.namedToken !== undefined) return settings.namedToken
  if (!LOOPBACK.test(new URL(url).hostname) && url !== announcedUrl(settings)) return undefined
  try {
    return readFileSync(join(settings.dataDir, 'admin-token'), 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}
