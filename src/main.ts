/** Starts the process: database, migrations, engine, HTTP server, and their shutdown. */
import { renameSync, writeFileSync } from 'node:fs'
import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import pino, { type Logger } from 'pino'
import { blobLocation } from './backup/blob-location.ts'
import { type Hold, openHold } from './backup/hold.ts'
import { UNFINISHED } from './backup/restore.ts'
import { archiveSettings, type Backups, endArchiving, openBackups } from './backup/service.ts'
import { type Config, readConfig } from './config/read-config.ts'
import { type AdminToken, hashOf, newToken } from './engine/configuration/tokens/index.ts'
import { openEngine } from './engine/engine.ts'
import { loadParser } from './engine/sql/guard/syntax/parse-statement.ts'
import { boundGarbage, collectWhenIdle } from './foundation/idle-collection.ts'
import { LIMITS } from './foundation/limits.ts'
import { logInPieces } from './log-pieces.ts'
import { masterKeys } from './master-key.ts'
import type { Provider } from './mcp/protocol/provider.ts'
import { supervise } from './postgres/cluster.ts'
import { prettyLine } from './pretty-log.ts'
import { buildServer } from './server.ts'
import { shutdownOnSignal } from './shutdown.ts'

export type RunningServer = {
  url: string
  adminToken: string
  /** True if this start created the token. */
  isNewToken: boolean
  close(): Promise<void>
}

/**
 * Opens the database, runs migrations, and starts the HTTP server. If a step fails, closes what was opened
 * before.
 * @param provider MCP provider for `/mcp`; Plinth by default
 */
export async function startServer(config: Config, log: Logger, provider?: Provider): Promise<RunningServer> {
  const closing: (() => Promise<void>)[] = []
  const close = async () => {
    for (let step = closing.pop(); step; step = closing.pop()) await step()
  }
  try {
    await mkdir(config.dataDir, { recursive: true, mode: 0o700 })
    await warnOfRoot(config, log)
    await requireFinished(config)
    const hold = openHold(config.dataDir)
    closing.push(async () => hold.close())
    const backups = await backupsOf(config, hold, log)
    closing.push(async () => backups?.finish())
    const connectionString = config.databaseUrl ?? (await openEmbedded(config, log, closing))
    closing.push(async () => backups?.close())
    const admin = await adminToken(config, log)
    let url = config.publicUrl ?? ''
    const engine = await openEngine({
      connectionString,
      adminToken: admin,
      blobs: blobLocation(config),
      adoptsStore: config.adoptsStore,
      onContent: backups && ((sha256) => backups.stored(sha256)),
      unreferencedMs: unreferencedMs(config),
      hold,
      masterKeys: await masterKeys(config),
      privateHosts: config.privateHosts,
      webhookScheduleMs: config.webhookScheduleMs,
      sendsDeliveries: config.sendsDeliveries,
      publicUrl: () => url,
      s3Host: config.s3Host,
      recordBytes: config.recordBytes,
      pageBytes: config.pageBytes,
      batchBytes: Math.max(LIMITS.batchBytes, config.bodyBytes),
      pauseAbove: config.pauseAbove,
      connections: config.databaseConnections,
      timeoutMs: config.requestTimeoutMs,
      sql: config.sql,
      unknownSettings: config.unknownSettings,
      replicaUrl: config.replicaUrl,
      backupHealth: backups && (() => backups.health()),
      breakingChanges: async (...edits) =>
        (await import('./graphql/base/breaking-changes.ts')).breakingChanges(...edits),
      log,
    }).catch(noDatabase(config))
    closing.push(() => engine.close())
    let draining = false
    const app = await buildServer({ engine, config, log, draining: () => draining, hold, backups, provider })
    closing.push(() => closeServer(app))
    const address = await app.listen({ host: config.host, port: config.port }).catch(noAddress(config))
    url = config.publicUrl ?? address.replace('//0.0.0.0:', '//127.0.0.1:')
    closing.push(await announceAddress(config, address))
    closing.push(async () => {
      draining = true
      engine.endStreams()
    })
    // Both begin after the ready line is printed, so that they do not delay the start.
    setImmediate(() => {
      engine.startJobs()
      backups?.start(connectionString)
      void loadLargeModules(config)
    })
    return {
      url: config.publicUrl ?? address,
      adminToken: admin.token,
      isNewToken: admin.from === 'new',
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** SQLSTATE of a write in a read-only transaction. */
const READ_ONLY = '25006'
const IS_STANDBY =
  'The database of DATABASE_URL takes no writes: it is a standby, or was made read-only. Give the address of the primary'

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException | null)?.code ?? ''

const CERTIFICATE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired. Renew it at the server of the database',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'is for another host name. Name the server in DATABASE_URL by a name of its certificate',
}
const UNKNOWN_AUTHORITY =
  'is signed by no authority that Node knows. Add sslrootcert=/path/to/ca.pem to DATABASE_URL: the certificate of the authority, or the self-signed one of the server'

/** What to do about a failure of TLS to the database; undefined for another failure. */
function tlsAdvice(error: Error): string | undefined {
  if (/does not support SSL/.test(error.message))
    return 'The server of DATABASE_URL has no TLS. Turn it on there (ssl = on), or leave sslmode out of DATABASE_URL'
  const code = codeOf(error)
  const fault = /SELF_SIGNED|^UNABLE_TO_(VERIFY|GET_ISSUER)/.test(code)
    ? UNKNOWN_AUTHORITY
    : CERTIFICATE[code]
  return fault && `The certificate of the server of DATABASE_URL ${fault} (${code})`
}

/** Names the setting of a database that cannot be reached. */
const noDatabase =
  ({ databaseUrl }: Config) =>
  (error: unknown): never => {
    const isAway = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH'].includes(
      codeOf(error),
    )
    if (databaseUrl === undefined || !(error instanceof Error)) throw error
    const advice = isAway
      ? 'The database of DATABASE_URL cannot be reached'
      : /^Connection terminated/.test(error.message)
        ? 'DATABASE_URL leads to no PostgreSQL, or to a proxy without a primary: the connection was closed'
        : codeOf(error) === READ_ONLY
          ? IS_STANDBY
          : tlsAdvice(error)
    throw advice === undefined ? error : new Error(advice, { cause: error })
  }

/** Names the setting of an address that cannot be listened on. */
const noAddress =
  ({ host, port }: Config) =>
  (error: unknown): never => {
    const why: Readonly<Record<string, string>> = {
      EADDRINUSE: `Port ${port} of ${host} is in use. Stop that server, or set PLINTH_PORT to another port, or to 0 for any free one.`,
      EACCES: `Port ${port} may not be opened by this user. Set PLINTH_PORT to a port above 1023.`,
      EADDRNOTAVAIL: `${host} is not an address of this machine. Set PLINTH_HOST to one.`,
      ENOTFOUND: `${host} is not an address of this machine. Set PLINTH_HOST to one.`,
    }
    const message = why[codeOf(error)]
    throw message === undefined ? error : new Error(message)
  }

/**
 * Loads the modules of the first GraphQL request and the first SQL statement, each of which would hold the event
 * loop for 150 to 280 ms. A request that needs one meanwhile waits for it, and reports a failure.
 */
async function loadLargeModules({ sql }: Config): Promise<void> {
  await Promise.allSettled([import('./graphql/endpoint/yoga.ts'), sql && loadParser()])
}

/**
 * Graceful shutdown: waits for requests in flight, and closes remaining connections after `LIMITS.finishMs`.
 */
async function closeServer(app: FastifyInstance): Promise<void> {
  const stalled = setTimeout(() => app.server.closeAllConnections(), LIMITS.finishMs)
  await app.close()
  clearTimeout(stalled)
}

/** Keys and contents that root makes in the directory of another user cannot be read by that user. */
async function warnOfRoot({ dataDir }: Config, log: Logger): Promise<void> {
  const { uid } = await stat(dataDir)
  if (process.geteuid?.() !== 0 || uid === 0) return
  log.warn(
    { dataDir, uid },
    'root serves the data directory of another user, who cannot read the files that root makes. Start as that user, or give it these files with chown',
  )
}

/** A restore that was interrupted has left a part of the data only. */
async function requireFinished({ dataDir }: Config): Promise<void> {
  if ((await readKept(join(dataDir, UNFINISHED))) === undefined) return
  throw new Error(
    `The restore into ${dataDir} did not end. Run "plinth restore" again, to the same directory.`,
  )
}

async function backupsOf(config: Config, hold: Hold, log: Logger): Promise<Backups | undefined> {
  const { backup, databaseUrl, dataDir } = config
  if (backup && databaseUrl === undefined) return openBackups({ ...config, backup }, hold, log)
  endArchiving(dataDir)
  if (backup) log.warn({}, NOT_OUR_DATABASE)
  return undefined
}

const NOT_OUR_DATABASE =
  'PLINTH_BACKUP_URL: the database of DATABASE_URL is backed up by its own tools; "plinth backup contents" copies contents'

/** A content that nothing refers to is kept until the next backup would have it. */
const unreferencedMs = ({ backup }: Config): number =>
  LIMITS.unreferencedMs + (backup?.hours ?? 0) * 3_600_000

async function openEmbedded(config: Config, log: Logger, closing: (() => Promise<void>)[]): Promise<string> {
  const settings = config.backup ? await archiveSettings(config) : {}
  const cluster = await supervise({ dataDir: config.dataDir, log, settings })
  if (!cluster) {
    const running = await readAddress(config)
    const where = running ? ` at ${running.url} (process ${running.pid})` : ''
    throw new Error(
      `Another Plinth serves ${config.dataDir}${where}. Stop it, or set PLINTH_DATA_DIR to another directory.`,
    )
  }
  closing.push(() => cluster.close())
  return cluster.url
}

/** Reads or creates the first admin token: from the configuration, else from the data directory. */
async function adminToken(config: Config, log: Logger): Promise<AdminToken> {
  const file = join(config.dataDir, 'admin-token')
  const noted = `${file}.sha256`
  const kept = await readKept(file)
  const former = await readKept(noted)
  const remember = (hash: Buffer) => replaceFile(noted, hash.toString('hex'))
  const files = {
    former: former === undefined ? undefined : Buffer.from(former, 'hex'),
    remember,
    replace: (token: string) => {
      replaceFile(file, token)
      remember(hashOf(token))
    },
  }
  if (config.adminToken !== undefined) {
    if (kept !== undefined && kept !== config.adminToken)
      log.warn(
        { file },
        'the file has another token than PLINTH_ADMIN_TOKEN, so the command line is refused. Delete the file, or write the token into it',
      )
    return { token: config.adminToken, from: 'settings', kept, ...files }
  }
  if (kept !== undefined) return { token: kept, from: 'kept', ...files }
  const token = newToken()
  await writeFile(file, `${token}\n`, { mode: 0o600, flag: 'wx' })
  await chmod(file, 0o600)
  return { token, from: 'new', ...files }
}

/** Whole or not at all, and durable. */
function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, `${text}\n`, { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
}

async function readKept(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const addressFile = (config: Config) => join(config.dataDir, 'server.json')

/** Writes the address of this server to the data directory. The returned function removes it. */
async function announceAddress(config: Config, url: string): Promise<() => Promise<void>> {
  await writeFile(addressFile(config), JSON.stringify({ url, pid: process.pid }), { mode: 0o600 })
  return async () => {
    const left = await readAddress(config)
    if (left?.pid === process.pid) await rm(addressFile(config), { force: true })
  }
}

async function readAddress(config: Config): Promise<{ url: string; pid: number } | undefined> {
  try {
    return JSON.parse(await readFile(addressFile(config), 'utf8')) as { url: string; pid: number }
  } catch {
    return undefined
  }
}

/**
 * Creates the logger on standard error. Standard output is reserved for the two lines that programs wait
 * for.
 */
export const openLog = ({ logLevel: level, logFormat }: Pick<Config, 'logLevel' | 'logFormat'>): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: timeOfLine,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: [
          'req.headers',
          'err.cause.params',
          'err.meta',
          'err.cause.detail',
          'err.detail',
          'err.where',
          'err.query',
        ],
        remove: true,
      },
    },
    (logFormat ?? (process.stderr.isTTY ? 'pretty' : 'json')) === 'pretty'
      ? { write: (line) => void process.stderr.write(prettyLine(line)) }
      : logInPieces(),
  )

let lastTime = { at: 0, text: '' }
/** The time of a line: its text is made once a millisecond, where pino makes it for each line. */
function timeOfLine(): string {
  const at = Date.now()
  if (at !== lastTime.at) lastTime = { at, text: `,"time":"${new Date(at).toISOString()}"` }
  return lastTime.text
}

/** Runs the server process: reads the configuration, starts the server, and shuts it down gracefully. */
export async function serve(): Promise<void> {
  boundGarbage()
  const config = readConfig(process.env)
  const log = openLog(config)
  const server = await startServer(config, log)
  shutdownOnSignal(() => server.close(), log)
  collectWhenIdle()
  if (server.isNewToken) process.stdout.write(`plinth admin token ${server.adminToken}\n`)
  process.stdout.write(`plinth ready ${server.url}\n`)
}
