import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import pino from 'pino'
import { readConfig } from '../../src/config/read-config.ts'
import { startServer } from '../../src/main.ts'
import type { Provider } from '../../src/mcp/protocol/provider.ts'
import { openBucket } from './bucket.ts'
import { type Answer, type Body, type Call, caller } from './caller.ts'
import { cloneDatabase, type TestDatabase } from './database.ts'
import { scratch } from './scratch.ts'
import { openBalancer, SERVERS } from './several-servers.ts'

export { type Answer, type Body, type Call, caller }

export type TestServer = {
  url: string
  adminToken: string
  dataDir: string
  database: TestDatabase
  /** All log lines. */
  log: string[]
  /** Sends a request as the administrator. */
  call: Call
  /** Returns a sender with another token, or with none. */
  as(token: string | null): Call
  close(): Promise<void>
}

/** `PLINTH_TEST_BLOBS=s3 npx vitest run …`: the contents of each server are in a bucket. */
export const IN_BUCKET = process.env['PLINTH_TEST_BLOBS'] === 's3'

/**
 * Starts a server with its own database on loopback. `env` are settings, `provider` is the MCP provider of
 * `/mcp`.
 */
export async function openServer(
  env: Record<string, string> = {},
  shared?: TestDatabase,
  provider?: Provider,
): Promise<TestServer> {
  const database = shared ?? (await cloneDatabase())
  const dataDir = await scratch('plinth-data-')
  const adminToken = 'plt_test-administrator-of-everything'
  const balancer = SERVERS > 1 && !provider ? await openBalancer() : undefined
  const bucket = IN_BUCKET ? await openBucket() : undefined
  const settings = {
    ...{ PLINTH_RATE_LIMIT: '0', DATABASE_URL: database.url },
    ...(bucket && { PLINTH_BLOB_URL: bucket.url }),
    ...balancer?.settings,
    ...env,
  }
  const config = readConfig({
    PLINTH_PORT: '0',
    PLINTH_DATA_DIR: dataDir,
    PLINTH_ADMIN_TOKEN: adminToken,
    ...settings,
  })
  const log: string[] = []
  const started = await startServer(
    config,
    pino({ level: config.logLevel, base: null }, { write: (line: string) => void log.push(line) }),
    provider,
  )
  if (balancer) {
    const own = JSON.parse(await readFile(join(dataDir, 'server.json'), 'utf8'))
    await balancer.share(own.url, { database, adminToken }, settings)
  }
  const { url } = balancer ?? started
  // Modules of test files live as long as the worker, and many keep this result. It must not keep the server.
  let server: typeof started | undefined = started
  const as = (token: string | null): Call => caller(url, token)
  return {
    url,
    adminToken,
    dataDir,
    database,
    log,
    call: as(adminToken),
    as,
    close: async () => {
      await balancer?.close()
      await server?.close()
      server = undefined
      await bucket?.close()
      if (!shared) await database.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
