import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningServer } from '../main.ts'
import { toFailure } from './command/failure.ts'
import { announcedUrl, type Settings, tokenFor } from './command/settings.ts'
import { type AddressOptions, mcpPath } from './mcp-relay/address-path.ts'
import type { Server } from './mcp-relay/http.ts'
import { relayStdio } from './mcp-relay/stdio.ts'

const ALIVE_MS = 2000
/** How long to wait for a server that another process is starting on the same data directory. */
const STARTING_MS = 10_000

/** Relays MCP over stdio to a server: the named one, the running one, or one that it starts. */
export async function mcp(settings: Settings, scope: AddressOptions): Promise<void> {
  const path = mcpPath(scope)
  const log = (text: string) => process.stderr.write(`plinth mcp: ${text}\n`)
  const finder = new Finder(settings, log)
  await relayStdio({ find: () => finder.find(), path, log })
  await finder.close()
  process.exit(0)
}

/** Locates the server of the relay, and starts one if there is none. */
class Finder {
  readonly #settings: Settings
  readonly #log: (text: string) => void
  #own: Promise<RunningServer> | undefined

  constructor(settings: Settings, log: (text: string) => void) {
    this.#settings = settings
    this.#log = log
  }

  async find(): Promise<Server> {
    const { namedUrl } = this.#settings
    if (namedUrl !== undefined) return { url: namedUrl, token: tokenFor(namedUrl, this.#settings) }
    return (await this.#join()) ?? (await this.#start())
  }

  /** Also closes a server that is still starting. */
  async close(): Promise<void> {
    const own = await this.#own?.catch(() => undefined)
    await own?.close()
  }

  /** The running server of the data directory, if it responds. */
  async #join(): Promise<Server | undefined> {
    const url = announcedUrl(this.#settings)
    if (url === undefined) return undefined
    try {
      const { ok } = await fetch(`${url}/healthz`, {
        signal: AbortSignal.timeout(ALIVE_MS),
        redirect: 'manual',
      })
      const origin = `which runs on the data directory ${this.#settings.dataDir}`
      return ok ? { url, token: tokenFor(url, this.#settings), origin } : undefined
    } catch {
      return undefined
    }
  }

  async #start(): Promise<Server> {
    try {
      this.#own = startOwn(this.#log)
      const server = await this.#own
      // Prefer the listening address, because the public URL may not be reachable from here.
      const url = announcedUrl(this.#settings) ?? server.url
      const origin = `which plinth mcp has started on the data directory ${this.#settings.dataDir}: set PLINTH_URL for another one`
      return { url, token: this.#settings.namedToken ?? server.adminToken, origin }
    } catch (error) {
      this.#log(toFailure(error).message)
      // Another process won the race to start a server. Wait for it.
      for (const until = Date.now() + STARTING_MS; Date.now() < until; await sleep(250)) {
        const joined = await this.#join()
        if (joined) return joined
      }
      throw error
    }
  }
}

async function startOwn(log: (text: string) => void): Promise<RunningServer> {
  const { openLog, startServer } = await import('../main.ts')
  const { readConfig } = await import('../config/read-config.ts')
  const config = readConfig({ PLINTH_LOG_LEVEL: 'warn', ...process.env })
  const server = await startServer({ ...config, port: 0 }, openLog(config))
  log(`started a new server in ${config.dataDir}: nothing else answered for it`)
  return server
}
