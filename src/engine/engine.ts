/** Composition root of the engine: opens and closes the services of a scope. */
import { createSecretKey } from 'node:crypto'
import { s3Endpoint } from '../contract/s3-shapes.ts'
import type { PrivateHosts } from '../foundation/egress/allowed-addresses.ts'
import { type Egress, openEgress } from '../foundation/egress/dispatcher.ts'
import { LIMITS } from '../foundation/limits.ts'
import type { ErrorLog, InfoLog } from '../foundation/log.ts'
import { type Delivery, openDelivery, openRefusals } from './automation/inbound/index.ts'
import type { Arrived } from './automation/inbound/verify.ts'
import { openTriggers } from './automation/triggers/index.ts'
import {
  type Authorizations,
  openAuthorizations,
  sweepAuthorized,
} from './configuration/authorizations/index.ts'
import { KINDS } from './configuration/kinds.ts'
import {
  type AdminToken,
  authenticate,
  ensureAdminToken,
  type SentToken,
  type SignedIn,
  signIn,
  signOut,
} from './configuration/tokens/index.ts'
import { valuesOpenTo } from './configuration/vault-secrets/index.ts'
import { findValidSession } from './core/authentication/authenticate.ts'
import { openCaches, requireNotices } from './core/caches.ts'
import { requireOwnStore } from './core/contents/own-store.ts'
import { openLongPolls } from './core/long-poll.ts'
import type { ClientBreaks, Scope, Services, Via } from './core/scope.ts'
import { sealForTime, sealKey, serverSecret, unsealInTime } from './core/sealed-token.ts'
import { SlowLists } from './core/slow-lists.ts'
import { expireKeys } from './core/write/idempotency.ts'
import { expirePlans } from './core/write/plan-store.ts'
import { openRequestBatching } from './data/ledger/request-batching.ts'
import { sweepCounts } from './environments/change-sets/counts.ts'
import {
  type CredentialSession,
  findCredentialSession,
  sweepS3Credentials,
  withCredential,
} from './files/s3-credentials/index.ts'
import { type Measures, openMeasures } from './jobs/diagnostics/measure.ts'
import { openJobs } from './jobs/runner.ts'
import { openCallRecorder } from './log/calls/recorder.ts'
import { openChangeFeed } from './log/open-feed.ts'
import {
  type AttachmentKey,
  attachmentSweep,
  type LinkUse,
  linkEnded,
  openLink,
} from './records/attachments/index.ts'
import { sweepClaims } from './records/claims/actions.ts'
import { openSqlRunner, type SqlLimits } from './sql/execution/runner.ts'
import type { Isolation } from './sql/run-sql.ts'
import { compileAccess } from './storage/access/compile-access.ts'
import { actorOf, issuedSession, type Principal, type TokenSession } from './storage/access/token-session.ts'
import { type BlobLocation, openBlobStore } from './storage/blobs/open.ts'
import { type ReserveBytes, ResponseBudget } from './storage/database/capped-query.ts'
import { migrate } from './storage/database/migrate.ts'
import { openOutageLog } from './storage/database/outage.ts'
import { type Database, openDatabase } from './storage/database/pool.ts'
import type { Found } from './storage/database/readiness.ts'
import { openStandby, openTokenDbs, type StandbyHealth } from './storage/database/standby.ts'
import { openVault } from './storage/vault/vault.ts'

export type { Scope, Via } from './core/scope.ts'
export type { Principal, TokenSession } from './storage/access/token-session.ts'

export type EngineOptions = {
  connectionString: string
  adminToken: AdminToken
  /** Where the contents of files are stored. */
  blobs: BlobLocation
  /** Marks the store of contents as that of the database, whatever it is. False by default. */
  adoptsStore?: boolean
  /** Called with each content that was stored in the store, and not as a row. */
  onContent?: ((sha256: string) => void) | undefined
  /** How long a content stays that nothing refers to, in milliseconds. */
  unreferencedMs?: number
  /** A restored copy sends nothing, and removes no contents, until it is released. */
  hold?: Hold
  /** Master keys of the vault: the first one encrypts, all of them decrypt. */
  masterKeys: readonly Buffer[]
  /** Addresses on private networks that outgoing requests may reach. */
  privateHosts: PrivateHosts
  /** Waits before each retry of a delivery, in milliseconds. */
  webhookScheduleMs: readonly number[]
  /** False: this process sends no deliveries of triggers, and runs no actions of them. True by default. */
  sendsDeliveries?: boolean
  /** The address of the server, for links. */
  publicUrl?: () => string
  /** The host of the S3 gateway, if it has one of its own. */
  s3Host?: string | undefined
  /** By default, changes of types have no such warnings. */
  breakingChanges?: ClientBreaks
  recordBytes?: number
  /** Maximum bytes of records that a batch writes or returns. */
  batchBytes?: number
  /** Changes in an hour up to which no token is paused; 0: none ever is. */
  pauseAbove?: number
  /** Byte limit of a page. */
  pageBytes?: number
  /** Pool size, and the timeout of a statement or a transaction. */
  connections?: number
  timeoutMs?: number
  /** Limits of the SQL endpoint; false disables it. */
  sql?: SqlLimits | false
  unknownSettings?: readonly string[]
  /** How the backups are, if this process makes some. */
  backupHealth?: Services['backupHealth']
  /** A standby of the database, for reads. */
  replicaUrl?: string | undefined
  log: InfoLog & ErrorLog
}

/** What keeps a restored copy from sending. */
type Hold = { isHeld(): boolean; onRelease(work: () => void): void }

/** The engine, opened on one database. */
export type Engine = {
  /** Authenticates a token. Returns undefined when it is unknown or expired. */
  authenticate(token: string | SentToken): Promise<TokenSession | undefined>
  /** Session of an identity verified by an OAuth issuer. */
  issuedSession(principal: Principal): TokenSession
  /** Exchanges a sign-in code for the token of a browser tab. Undefined for a code that is unknown, used or expired. */
  signIn(code: string, requestId: string): Promise<SignedIn | undefined>
  /** Revokes the calling token if it is that of a browser tab. Returns whether it was. */
  signOut(scope: Scope): Promise<boolean>
  /** What the authorization server stores. */
  authorizations: Authorizations
  /** Seals what a page carries, for one use and some time; `unseal` returns undefined for any other, and after it. */
  seal(use: unknown, value: unknown, seconds: number): string
  unseal<Value>(use: unknown, sealed: string): Value | undefined
  /** Sends a request to an address that somebody chose, public ones only. */
  send: Egress['send']
  scope(
    session: TokenSession,
    via: Via,
    requestId: string,
    closed?: () => AbortSignal,
    reserveBytes?: ReserveBytes,
  ): Scope
  /**
   * The scope of a signed link, and the attachment that it is for. It reaches the record type of it only.
   * @throws FORBIDDEN if the link was altered, is for another use, or has expired, or its token has ended
   */
  linkScope(
    use: LinkUse,
    link: string,
    requestId: string,
  ): Promise<{ scope: Scope; attachment: AttachmentKey }>
  /** The S3 credential of an access key id; undefined if there is none. */
  findCredentialSession(accessKeyId: string): Promise<CredentialSession | undefined>
  /** The scope of a credential whose signature was checked. It reaches files only. */
  s3Scope(
    session: CredentialSession,
    requestId: string,
    closed?: () => AbortSignal,
    reserveBytes?: ReserveBytes,
  ): Scope
  /**
   * The scope of a delivery to an inbound webhook: it writes the record type of that. Undefined if there is no such
   * webhook, it is disabled, or the signature is not right.
   */
  deliveryScope(
    webhook: { baseId: string; id: string },
    arrived: Arrived,
    requestId: string,
  ): Promise<Scope | undefined>
  /** Isolation level of the SQL endpoint. */
  sqlIsolation(): Isolation | 'off'
  /** Ends all open change streams. */
  endStreams(): void
  /** Starts the background jobs. */
  startJobs(): void
  /** Current readiness of the database. */
  readiness(): Promise<Found>
  /** Connections in use, queued work, and the number of rejections so far. */
  load(): { running: number; waiting: number; refused: number }
  /** Which work of all processes on the database this one does. */
  leads(): Readonly<Record<string, boolean>>
  /** How the standby is; undefined without one. */
  standby(): StandbyHealth | undefined
  /** Sizes, jobs and deliveries of the database; undefined while it is away. */
  measures(): Promise<Measures | undefined>
  close(): Promise<void>
}

const SWEEP_MS = 10 * 60_000

/** Opens the engine: migrates the database, opens connections and caches, and ensures the admin token. */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { connectionString } = options
  const log = openOutageLog(options.log, () => database.canceller.ping())
  const applied = await migrate(connectionString)
  if (applied.length > 0) log.info({ migrations: applied }, 'the database was migrated')
  const database = openDatabase(
    connectionString,
    (err) => log.warn({ err }, 'an idle database connection was lost'),
    options,
  )
  const standby =
    options.replicaUrl === undefined
      ? undefined
      : openStandby(
          database,
          // The fence says when it is away.
          openDatabase(options.replicaUrl, () => {}, options),
          options.log,
          () => caches.newest.at,
        )
  const ofToken = openTokenDbs(database, standby)
  const caches = await openCaches(connectionString, log)
  await requireNotices(database, caches)
  const batching = openRequestBatching(database.part(), database.part())
  const feed = openChangeFeed(database, log)
  const longPolls = openLongPolls(feed)
  const limits = {
    recordBytes: options.recordBytes ?? LIMITS.recordBytes,
    batchBytes: options.batchBytes ?? LIMITS.batchBytes,
    pauseAbove: options.pauseAbove ?? LIMITS.pauseAbove,
  }
  const pageBytes = options.pageBytes ?? LIMITS.pageBytes
  const keys = {
    cursor: sealKey(await serverSecret(database, 'cursor')),
    link: sealKey(await serverSecret(database, 'link')),
    s3: createSecretKey(await serverSecret(database, 's3')),
  }
  const publicUrl = options.publicUrl ?? (() => '')
  const sql = await openSqlRunner({
    connectionString,
    db: database,
    standby,
    isEnabled: options.sql !== false,
    limits: options.sql || SQL_LIMITS,
    log,
  })
  const blobs = await openBlobStore(options.blobs, options.onContent)
  await requireOwnStore(database, blobs, { adopt: options.adoptsStore === true, log: options.log })
  const vault = await openVault(database, options.masterKeys, log)
  const isHeld = () => options.hold?.isHeld() ?? false
  const egress = openEgress(options.privateHosts, undefined, isHeld)
  const calls = openCallRecorder({
    db: database.part(),
    log,
    secretsOf: (baseId) => valuesOpenTo({ db: database, vault }, baseId),
    settledSeq: feed.settledSeq,
  })
  const breakingChanges: ClientBreaks = options.breakingChanges ?? (async () => [])
  const services: Services = {
    ...{ caches, batching, feed, calls, longPolls, keys, limits, sql, blobs, vault, egress, publicUrl, log },
    s3Endpoint: () => s3Endpoint(publicUrl(), options.s3Host),
    snapshots: database.snapshots,
    serverToken: {
      id: undefined,
      isSetting: options.adminToken.from === 'settings',
      replace: options.adminToken.replace,
    },
    breakingChanges,
    kinds: KINDS,
    slowLists: new SlowLists(),
    unknownSettings: options.unknownSettings ?? [],
    backupHealth: options.backupHealth,
    standbyHealth: standby && (() => standby.health()),
  }
  const system = systemScope(database, services)
  await ensureAdminToken(system, options.adminToken, log)
  const jobs = openJobs({ ...system, db: database.part() }, connectionString, log, {
    unreferencedMs: options.unreferencedMs ?? LIMITS.unreferencedMs,
    isHeld,
  })
  const triggers = openTriggers({ ...system, db: database.part() }, connectionString, {
    scheduleMs: options.webhookScheduleMs,
    log,
  })
  const refusals = openRefusals(database, log)
  const sweepAttachments = attachmentSweep(database)
  const sweep = setInterval(() => {
    sweepAttachments().catch((err) => log.warn({ err }, 'old attachments were not swept'))
    sweepS3Credentials(database).catch((err) => log.warn({ err }, 'old S3 credentials were not swept'))
    sweepAuthorized(database).catch((err) => log.warn({ err }, 'old sign-ins were not swept'))
    expireKeys(database).catch((err) => log.warn({ err }, 'old idempotency keys were not swept'))
    expirePlans(database).catch((err) => log.warn({ err }, 'old plans were not swept'))
    sweepCounts(database).catch((err) => log.warn({ err }, 'old counts were not swept'))
    sweepClaims(database).catch((err) => log.warn({ err }, 'old claims were not swept'))
    sql.sweep().catch((err) => log.warn({ err }, 'unused SQL roles were not dropped'))
  }, SWEEP_MS).unref()
  const scope: Engine['scope'] = (session, via, requestId, closed, reserveBytes) => ({
    ...services,
    ...ofToken(session.tokenId),
    access: session.access,
    actor: actorOf(session),
    session,
    via: session.isTab ? 'explorer' : via,
    requestId,
    batches: { left: limits.batchBytes },
    writes: { begun: 0, counted: 0, changes: 0 },
    answer: budgetOf(via, pageBytes, reserveBytes),
    received: new Map(),
    ...(closed && { closed }),
  })
  return {
    authenticate: (token) => authenticate({ db: database, caches }, token),
    issuedSession: issuedSession,
    signIn: (code, requestId) => signIn({ ...system, via: 'graphql', requestId }, code),
    signOut,
    authorizations: openAuthorizations((requestId) => ({ ...system, via: 'mcp', requestId }), database),
    seal: (use, value, seconds) => sealForTime(keys.cursor, ['page', use], value, seconds),
    unseal: (use, sealed) => unsealInTime(keys.cursor, ['page', use], sealed),
    send: egress.send,
    scope,
    linkScope: async (use, link, requestId) => {
      const { attachment, session: maker } = openLink(keys.link, use, link)
      const standing = maker === null ? undefined : linkStanding({ db: database, caches }, maker)
      await standing?.recheck()
      const [base, type] = attachment.key
      const permission = use === 'upload' ? 'write' : 'read'
      const access = compileAccess([{ base, record_type: type, environment: '*', permission }])
      const bearer = { tokenId: '', key: null, name: 'link', access, expiresAt: null }
      const { session: _, ...rest } = scope(bearer, 'rest', requestId)
      return { scope: { ...rest, ...(standing && { standing }) }, attachment }
    },
    findCredentialSession: (accessKeyId) =>
      findCredentialSession({ db: database, caches, keys }, accessKeyId),
    s3Scope: (session, requestId, closed, reserveBytes) =>
      withCredential(scope(session.token, 'rest', requestId, closed, reserveBytes), session),
    deliveryScope: async (webhook, arrived, requestId) => {
      const delivery = await openDelivery(system, webhook, arrived, refusals)
      return delivery && scopeOf(delivery, scope, requestId)
    },
    sqlIsolation: () => sql.isolation(),
    endStreams: () => feed.endStreams(),
    startJobs: () => {
      jobs.start()
      if (options.sendsDeliveries === false) return log.warn({}, DELIVERIES_OFF)
      if (!options.hold?.isHeld()) return triggers.start()
      log.warn({}, RESTORED_COPY)
      options.hold.onRelease(() => {
        log.info({}, 'the restored copy sends from now on')
        triggers.start()
      })
    },
    readiness: () => database.readiness(),
    load: () => database.load(),
    leads: () => ({ triggers: triggers.leads() }),
    standby: () => standby?.health(),
    measures: openMeasures(database.part(), blobs),
    close: async () => {
      log.close()
      clearInterval(sweep)
      await triggers.close()
      await refusals.close()
      await calls.settle()
      await calls.settleUsage()
      feed.close()
      await jobs.close()
      await egress.close()
      await sql.close()
      await caches.close()
      await standby?.close()
      await database.close()
    },
  }
}

/** A link stands as long as the token that made it. */
const linkStanding = (where: Pick<Scope, 'db' | 'caches'>, key: string) => ({
  isCurrent: () => where.caches.live() && where.caches.sessions.has(key),
  recheck: async () => {
    if (!(await findValidSession(where, key))) throw linkEnded()
  },
})

/** The scope of a delivery: of its record type, and of those that it links. Its share of the connections is that of its webhook. */
function scopeOf(delivery: Delivery, scope: Engine['scope'], requestId: string): Scope {
  const { baseId, id, recordType, mapping } = delivery.webhook
  const linked = (mapping?.relationships ?? []).map(({ record_type }) => record_type)
  const access = compileAccess([
    { base: baseId, record_type: [recordType, ...linked], environment: '*', permission: 'write' },
  ])
  const bearer = { tokenId: `inbound ${baseId}/${id}`, key: null, name: id, access, expiresAt: null }
  const { session: _, ...rest } = scope(bearer, 'inbound', requestId)
  return { ...rest, actor: { tokenId: null, name: id }, delivery }
}

/** Response budget. Surfaces that buffer or further truncate a response get a smaller one. */
function budgetOf(via: Via, pageBytes: number, reserveBytes: ReserveBytes | undefined): ResponseBudget {
  if (via === 'mcp')
    return new ResponseBudget(Math.min(pageBytes, LIMITS.mcpPageBytes), LIMITS.mcpAnswerBytes, reserveBytes)
  if (via !== 'graphql') return new ResponseBudget(pageBytes, Number.POSITIVE_INFINITY, reserveBytes)
  const inAll = Math.min(pageBytes, LIMITS.graphqlPageBytes)
  return new ResponseBudget(inAll, inAll, reserveBytes)
}

const DELIVERIES_OFF =
  'PLINTH_DELIVERIES is off: this server sends no deliveries of triggers and runs no actions of them. They are held.'

const RESTORED_COPY =
  'restored copy: nothing is sent until "plinth deliveries resume". Run it once the original sends nothing more.'

const SQL_LIMITS: SqlLimits = {
  rows: LIMITS.sqlRows,
  timeoutMs: LIMITS.sqlTimeoutMs,
  bytes: LIMITS.sqlBytes,
  writeRows: LIMITS.sqlWriteRows,
}

const systemScope = (db: Database, services: Services): Scope => ({
  ...services,
  db,
  access: compileAccess([{ base: '*', record_type: '*', environment: '*', permission: 'admin' }]),
  actor: { tokenId: null, name: 'system' },
  via: 'system',
  requestId: 'boot',
  batches: { left: Number.POSITIVE_INFINITY },
  writes: { begun: 0, counted: 0, changes: 0 },
  answer: new ResponseBudget(LIMITS.pageBytes, Number.POSITIVE_INFINITY),
  received: new Map(),
})
