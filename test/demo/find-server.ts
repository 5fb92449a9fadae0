import { join, relative } from 'node:path'
import pino from 'pino'
import { announcedUrl, readSettings, tokenFor } from '../../src/cli/command/settings.ts'
import { readConfig } from '../../src/config/read-config.ts'
import { startServer } from '../../src/main.ts'
import type { Server } from './world.ts'

/** `shownUrl` and `shownToken` are what a user copies into a shell. */
export type Found = Server & {
  shownUrl: string
  shownToken: string
  /** The server is our own: it ends with `close`. */
  own: boolean
  close(): Promise<void>
}

/** The server that `PLINTH_URL` names, else the one of the data directory, else one of our own for as long as we need it. */
export async function findServer(env: NodeJS.ProcessEnv): Promise<Found> {
  const settings = readSettings({}, env)
  const shownToken = env['PLINTH_TOKEN']
    ? '$PLINTH_TOKEN'
    : `$(cat ${shortest(join(settings.dataDir, 'admin-token'))})`
  const url = settings.namedUrl ?? (await runningUrl(announcedUrl(settings)))
  if (url === undefined) return { ...(await startOwn(env)), shownToken, own: true }
  const token = tokenFor(url, settings)
  if (token === undefined) throw new Error(`Set PLINTH_TOKEN to a token of ${url} that administers it.`)
  return { url, token, shownUrl: url, shownToken, own: false, close: async () => {} }
}

/** The address, when something answers there: a server that was killed leaves its word behind. */
async function runningUrl(url: string | undefined): Promise<string | undefined> {
  if (url === undefined) return undefined
  const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(5000) }).catch(() => undefined)
  return answer?.ok ? url : undefined
}

async function startOwn(env: NodeJS.ProcessEnv) {
  const config = readConfig(env)
  // Any free port, in nobody's way; what is shown is where `npm start` will listen.
  const server = await startServer({ ...config, port: 0, requestsPerMinute: 0 }, pino({ level: 'silent' }))
  return {
    url: server.url,
    token: server.adminToken,
    shownUrl: config.publicUrl ?? `http://${config.host}:${config.port}`,
    close: () => server.close(),
  }
}

/** The path as one would type it here. */
function shortest(path: string): string {
  const near = relative('', path)
  return near.startsWith('..') ? path : near
}
