/** The settings: reads and checks all environment variables, once. */
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { distance } from 'fastest-levenshtein'
import { z } from 'zod'
import { LOOPBACK, type PrivateHosts, readPrivateHosts } from '../foundation/egress/allowed-addresses.ts'
import { LIMITS } from '../foundation/limits.ts'
import { memoryOfMachine } from '../foundation/machine-memory.ts'

const whole = (min: number, max: number, standard: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.int().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))
    .default(standard)

/** Two answers of the largest size always fit. */
export const unsentOn = (machine: number): number =>
  Math.max(2 * LIMITS.pageBytes, Math.min(LIMITS.unsentBytes, Math.floor(machine / 8)))

const url = (protocols: RegExp, what: string) => z.url({ protocol: protocols, error: `is ${what}` })

const HOST_NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

/**
 * RFC 8414: an issuer is an https URL without query or fragment. Plain http is allowed for loopback hosts.
 */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, search, hash } = new URL(text)
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname))
  return isSafe && username === '' && search === '' && hash === ''
}

const isSupport = (text: string): boolean =>
  /^[^\s@<>"]+@[^\s@<>"]+\.[a-z]+$/i.test(text) || (/^https:\/\//.test(text) && URL.canParse(text))

/** Whether the server has a safe address of its own: the one it is given, or that of this machine. */
const isOrigin = (publicUrl: string | undefined, host: string): boolean =>
  publicUrl === undefined
    ? LOOPBACK.test(host.includes(':') ? `[${host}]` : host)
    : isIssuer(publicUrl) && new URL(publicUrl).pathname === '/'

const isBlobUrl = (text: string): boolean =>
  text.startsWith('s3:')
    ? readS3Url(text) !== undefined
    : URL.canParse(text) && new URL(text).protocol === 'file:'

const S3_PARAMETERS = ['endpoint', 'region', 'path_style']
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/

/** The bucket that a URL names: `s3://bucket/prefix?endpoint=https://…&region=…&path_style=true`. */
export type S3Bucket = {
  bucket: string
  /** What keys begin with: empty, or it ends in "/". */
  prefix: string
  endpoint: string | undefined
  region: string | undefined
  isPathStyle: boolean
}

/** Reads the URL of a bucket; undefined if it is malformed. */
export function readS3Url(text: string): S3Bucket | undefined {
  if (!URL.canParse(text)) return undefined
  const { hostname, username, pathname, searchParams, hash } = new URL(text)
  const parameters = [...searchParams.keys()]
  const isKnown = parameters.every(
    (name, at) => S3_PARAMETERS.includes(name) && parameters.indexOf(name) === at,
  )
  const endpoint = searchParams.get('endpoint') ?? undefined
  const isEndpoint = endpoint === undefined || (/^https?:/.test(endpoint) && URL.canParse(endpoint))
  const pathStyle = searchParams.get('path_style') ?? String(endpoint !== undefined)
  if (!BUCKET.test(hostname) || username !== '' || hash !== '' || !isKnown || !isEndpoint) return undefined
  if (pathStyle !== 'true' && pathStyle !== 'false') return undefined
  if (!/^[\w./-]*$/.test(pathname)) return undefined
  const folder = pathname.replace(/^\/+|\/+$/g, '')
  return {
    bucket: hostname,
    prefix: folder === '' ? '' : `${folder}/`,
    endpoint,
    region: searchParams.get('region') ?? undefined,
    isPathStyle: pathStyle === 'true',
  }
}

/** A setting that `read` turns into a value, with the error of `read` if it cannot. */
const readBy = <T>(read: (text: string) => T) =>
  z.string().transform((text, context): T => {
    try {
      return read(text)
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message })
      return z.NEVER
    }
  })

/** Reads keys of 32 bytes as base64, separated by commas or lines; undefined if one is not. */
export function readMasterKeys(text: string): readonly Buffer[] | undefined {
  const keys = text.split(/[,\s]+/).flatMap((each) => (each === '' ? [] : [Buffer.from(each, 'base64')]))
  return keys.length > 0 && keys.every(({ length }) => length === 32) ? keys : undefined
}

function masterKeysOf(text: string): readonly Buffer[] {
  const keys = readMasterKeys(text)
  if (!keys) throw new Error('must be a key of 32 bytes as base64, or several separated by commas')
  return keys
}

/** Reads waits in seconds: `5, 300, 1800`. */
function scheduleOf(text: string): readonly number[] {
  const waits = text.split(',').map((each) => each.trim())
  if (waits.length > 100 || !waits.every((each) => /^\d{1,7}(\.\d{1,3})?$/.test(each)))
    throw new Error('must be waits in seconds separated by commas, at most 100')
  return waits.map((each) => Math.round(Number(each) * 1000))
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('must be JSON')
  }
}

const issuerUrl = z
  .string()
  .refine(isIssuer, 'is an https address without query or fragment (http on this machine)')
const blobUrl = z
  .string()
  .refine(isBlobUrl, 'is a file:/// address of a directory, or s3://bucket/prefix?endpoint=…&region=…')

const OIDC = [
  'PLINTH_OIDC_ISSUER',
  'PLINTH_OIDC_CLIENT_ID',
  'PLINTH_OIDC_CLIENT_SECRET',
  'PLINTH_OIDC_GRANTS',
] as const

/**
 * The schema of all environment variables of the server. No other module reads the environment. An empty
 * variable counts as unset.
 */
const Settings = z.object({
  PLINTH_HOST: z.string().default('127.0.0.1'),
  PLINTH_PORT: whole(0, 65_535, 4000),
  PLINTH_PUBLIC_URL: url(/^https?$/, 'an http or https address').optional(),
  PLINTH_S3_HOST: z
    .string()
    .toLowerCase()
    .regex(HOST_NAME, 'must be a host name without a port, such as s3.example.com')
    .optional(),
  PLINTH_DATA_DIR: z.string().default('.plinth'),
  DATABASE_URL: url(/^postgres(ql)?$/, 'a postgres:// address').optional(),
  PLINTH_REPLICA_URL: url(/^postgres(ql)?$/, 'a postgres:// address').optional(),
  PLINTH_BLOB_URL: blobUrl.optional(),
  PLINTH_BACKUP_URL: blobUrl.optional(),
  PLINTH_BACKUP_HOURS: whole(1, 744, LIMITS.backupHours),
  PLINTH_BACKUP_DAYS: whole(1, 3650, LIMITS.backupDays),
  PLINTH_ADOPT_STORE: z.enum(['true', 'false'], 'must be true or false').default('false'),
  PLINTH_DATABASE_CONNECTIONS: whole(4, 200, LIMITS.databaseConnections),
  PLINTH_ADMIN_TOKEN: z
    .string()
    .min(16, 'must have at least 16 characters')
    .max(256)
    .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII')
    .optional(),
  PLINTH_MASTER_KEY: readBy(masterKeysOf).optional(),
  PLINTH_ALLOW_PRIVATE_TARGETS: readBy(readPrivateHosts).optional(),
  PLINTH_WEBHOOK_SCHEDULE: readBy(scheduleOf).optional(),
  PLINTH_DELIVERIES: z.enum(['on', 'off'], 'must be on or off').default('on'),
  PLINTH_CORS_ORIGINS: z.string().optional(),
  PLINTH_PRIVACY_URL: url(/^https?$/, 'the http or https address of a privacy policy').optional(),
  PLINTH_SUPPORT: z
    .string()
    .refine(isSupport, 'is an e-mail address, or the https address of a page')
    .optional(),
  PLINTH_OAUTH_ISSUER: issuerUrl.optional(),
  PLINTH_OAUTH_AUDIENCE: z.string().max(1024).optional(),
  PLINTH_OAUTH_SCOPES: z
    .string()
    .regex(/^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/, 'must be scopes separated by spaces')
    .optional(),
  PLINTH_OAUTH_SERVER: z.enum(['on', 'off'], 'must be on or off').default('off'),
  PLINTH_OAUTH_REGISTRATION: z.enum(['on', 'off'], 'must be on or off').default('off'),
  PLINTH_OIDC_ISSUER: issuerUrl.optional(),
  PLINTH_OIDC_CLIENT_ID: z.string().max(512).optional(),
  PLINTH_OIDC_CLIENT_SECRET: z.string().max(1024).optional(),
  PLINTH_OIDC_SCOPES: z.string().max(1024).default('openid profile email offline_access'),
  PLINTH_OIDC_GRANTS: readBy(jsonOf).optional(),
  PLINTH_RATE_LIMIT: whole(0, 10_000_000, LIMITS.requestsPerMinute),
  PLINTH_PAUSE_ABOVE: whole(0, 10_000_000, LIMITS.pauseAbove),
  PLINTH_MAX_CONNECTIONS: whole(1, 1_000_000, LIMITS.connections),
  PLINTH_MAX_BODY_BYTES: whole(1024, 1024 ** 3, LIMITS.bodyBytes),
  PLINTH_MAX_RECORD_BYTES: whole(1024, 64 * 1024 ** 2, LIMITS.recordBytes),
  PLINTH_MAX_PAGE_BYTES: whole(1024, 256 * 1024 ** 2, LIMITS.pageBytes),
  PLINTH_MAX_UNSENT_BYTES: whole(1024 ** 2, 64 * 1024 ** 3, unsentOn(memoryOfMachine())),
  PLINTH_MAX_UNSENT_BYTES_PER_TOKEN: whole(1024 ** 2, 64 * 1024 ** 3, LIMITS.unsentOfToken),
  PLINTH_GRAPHQL_MAX_COST: whole(1, 1_000_000, LIMITS.graphqlCost),
  PLINTH_SQL_ENABLED: z.enum(['true', 'false'], 'must be true or false').default('true'),
  PLINTH_SQL_MAX_ROWS: whole(1, 100_000, LIMITS.sqlRows),
  PLINTH_SQL_TIMEOUT_MS: whole(100, 60_000, LIMITS.sqlTimeoutMs),
  PLINTH_SQL_WRITE_ROWS: whole(1, 10_000, LIMITS.sqlWriteRows),
  PLINTH_SQL_MAX_BYTES: whole(1024, 256 * 1024 ** 2, LIMITS.sqlBytes),
  PLINTH_REQUEST_TIMEOUT_MS: whole(1000, 600_000, LIMITS.requestTimeoutMs),
  PLINTH_SEND_TIMEOUT_MS: whole(1000, 600_000, LIMITS.stalledReaderMs),
  PLINTH_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  PLINTH_LOG_FORMAT: z.enum(['json', 'pretty'], 'must be json or pretty').optional(),
})

/** The OAuth variables depend on each other. */
const needed = (name: keyof z.output<typeof Settings>) => ({
  path: [name],
  error: 'is also required for OAuth',
})
const needsOrigin = (name: keyof z.output<typeof Settings>) => ({
  path: [name],
  error: 'needs PLINTH_PUBLIC_URL, an https address without a path (or a server of this machine only)',
})
const Sound = Settings.refine(
  (set) => set.PLINTH_OAUTH_ISSUER || !(set.PLINTH_OAUTH_AUDIENCE || set.PLINTH_OAUTH_SCOPES),
  needed('PLINTH_OAUTH_ISSUER'),
)
  .refine((set) => set.PLINTH_OAUTH_AUDIENCE || !set.PLINTH_OAUTH_ISSUER, needed('PLINTH_OAUTH_AUDIENCE'))
  .refine((set) => set.PLINTH_OAUTH_SERVER === 'off' || !set.PLINTH_OAUTH_ISSUER, {
    path: ['PLINTH_OAUTH_SERVER'],
    error: 'cannot be on beside PLINTH_OAUTH_ISSUER: one of them issues the tokens of /mcp',
  })
  .refine(
    (set) => set.PLINTH_OAUTH_SERVER === 'off' || isOrigin(set.PLINTH_PUBLIC_URL, set.PLINTH_HOST),
    needsOrigin('PLINTH_OAUTH_SERVER'),
  )
  .refine((set) => new Set(OIDC.map((name) => set[name] === undefined)).size === 1, {
    path: ['PLINTH_OIDC_ISSUER'],
    error:
      'is set with PLINTH_OIDC_CLIENT_ID, PLINTH_OIDC_CLIENT_SECRET and PLINTH_OIDC_GRANTS, or none of them',
  })
  .refine(
    (set) => !set.PLINTH_OIDC_ISSUER || isOrigin(set.PLINTH_PUBLIC_URL, set.PLINTH_HOST),
    needsOrigin('PLINTH_OIDC_ISSUER'),
  )
  .refine((set) => set.PLINTH_OAUTH_REGISTRATION === 'off' || set.PLINTH_OAUTH_SERVER === 'on', {
    path: ['PLINTH_OAUTH_REGISTRATION'],
    error: 'needs PLINTH_OAUTH_SERVER=on',
  })
  .refine((set) => set.PLINTH_REPLICA_URL === undefined || set.DATABASE_URL !== undefined, {
    path: ['PLINTH_REPLICA_URL'],
    error: 'is a standby of the database of DATABASE_URL, which is not set',
  })
  .refine((set) => !set.PLINTH_PUBLIC_URL || new URL(set.PLINTH_PUBLIC_URL).hostname !== set.PLINTH_S3_HOST, {
    path: ['PLINTH_S3_HOST'],
    error: 'must be another host than that of PLINTH_PUBLIC_URL, which has the other surfaces',
  })

/** OAuth settings: the issuer whose tokens `/mcp` accepts, and their required audience. */
export type OAuth = {
  issuer: string
  audience: string
  /** Scopes that clients request from the issuer; empty if not configured. */
  scopes: readonly string[]
}

/** The identity provider that people sign in at. `mapping` is checked where grants are known. */
export type Oidc = {
  issuer: string
  clientId: string
  clientSecret: string
  scopes: string
  mapping: unknown
}

export type Config = {
  host: string
  port: number
  publicUrl: string | undefined
  /** The host whose root is the S3 gateway; undefined if it is below /s3 only. */
  s3Host: string | undefined
  dataDir: string
  databaseUrl: string | undefined
  /** A standby of that database, for reads. */
  replicaUrl: string | undefined
  /** Where contents of files are stored; undefined for the data directory. */
  blobUrl: string | undefined
  /** Where backups are, how often one is made, and how long it is kept; undefined for none. */
  backup: { url: string; hours: number; days: number } | undefined
  /** Whether the store of contents is taken for that of the database, whatever id it has. */
  adoptsStore: boolean
  databaseConnections: number
  adminToken: string | undefined
  /** Keys of the vault, the one that encrypts first; undefined for the one in the data directory. */
  masterKeys: readonly Buffer[] | undefined
  /** Addresses on private networks that outgoing requests may reach. */
  privateHosts: PrivateHosts
  /** Waits before each retry of a delivery, in milliseconds. The last one repeats. */
  webhookScheduleMs: readonly number[]
  /** False: this process sends no deliveries of triggers, and runs no actions of them. */
  sendsDeliveries: boolean
  corsOrigins: readonly string[]
  /** The privacy policy of who runs the server, and where to ask them for help. */
  operator: { privacyUrl: string | undefined; support: string | undefined }
  oauth: OAuth | undefined
  /** The server's own authorization server; undefined if it is off. `registers`: clients may register themselves. */
  oauthServer: { registers: boolean } | undefined
  oidc: Oidc | undefined
  requestsPerMinute: number
  pauseAbove: number
  connections: number
  bodyBytes: number
  recordBytes: number
  pageBytes: number
  /** Maximum unsent response bytes of the process and of one token. */
  unsent: { inAll: number; ofToken: number }
  graphqlCost: number
  /** Limits of the SQL endpoint; false if the endpoint is disabled. */
  sql: { rows: number; timeoutMs: number; bytes: number; writeRows: number } | false
  requestTimeoutMs: number
  /** Timeout after which a client that reads nothing of its response is disconnected. */
  sendTimeoutMs: number
  logLevel: string
  /** Undefined for pretty lines on a terminal, JSON otherwise. */
  logFormat: 'json' | 'pretty' | undefined
  /** Variables that begin with PLINTH_ and are settings of nothing. */
  unknownSettings: readonly string[]
}

/** Settings whose value may be in a file, which `<NAME>_FILE` names: containers and systemd give secrets so. */
const SECRETS = [
  'DATABASE_URL',
  'PLINTH_REPLICA_URL',
  'PLINTH_ADMIN_TOKEN',
  'PLINTH_MASTER_KEY',
  'PLINTH_OIDC_CLIENT_SECRET',
]
const FILES = SECRETS.map((name) => `${name}_FILE`)
const SECRET_BYTES = 64 * 1024

const NAMES = [...Object.keys(Settings.shape), ...FILES].filter((name) => name.startsWith('PLINTH_'))

/** Variables of the command line. */
const OF_CLIENT = ['URL', 'TOKEN', 'BASE', 'ENDPOINT', 'READ_ONLY', 'HANDED_OVER'].map(
  (name) => `PLINTH_${name}`,
)

/** Says which setting a variable is a misspelling of: one letter more, less or other, or two swapped. */
function misspelling(name: string): string | undefined {
  if (!name.startsWith('PLINTH_') || NAMES.includes(name)) return undefined
  const letters = (text: string) => [...text].sort().join('')
  const meant = NAMES.find((each) => {
    const away = distance(name, each)
    return away === 1 || (away === 2 && letters(name) === letters(each))
  })
  return meant && `unknown setting ${name}, did you mean ${meant}`
}

/** The settings with those that files have. Their last line may end as lines do. */
function withFiles(given: Readonly<Record<string, string>>): Record<string, string> {
  const set = { ...given }
  for (const name of SECRETS) {
    const file = given[`${name}_FILE`]
    if (file === undefined) continue
    const wrong = (what: string) => new Error(`Invalid settings: ${name}_FILE ${what}.`)
    if (set[name] !== undefined) throw wrong(`is set beside ${name}. Leave one of them out`)
    let text: string
    try {
      if (statSync(file).size > SECRET_BYTES) throw wrong(`names a file of more than ${SECRET_BYTES} bytes`)
      text = readFileSync(file, 'utf8').trim()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      throw code === undefined ? error : wrong(`names ${file}, which cannot be read: ${code}`)
    }
    if (text === '') throw wrong(`names ${file}, which is empty`)
    set[name] = text
  }
  return set
}

/**
 * Reads and validates the configuration.
 * @throws an Error that names each invalid variable, and never shows its value
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, value] as const],
    ),
  )
  const misspelt = Object.keys(given).flatMap((name) => misspelling(name) ?? [])
  if (misspelt.length > 0) throw new Error(`Invalid settings: ${misspelt.join('; ')}.`)
  const result = Sound.safeParse(withFiles(given))
  if (!result.success) {
    const faults = result.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`)
    throw new Error(`Invalid settings: ${faults.join('; ')}.`)
  }
  const set = result.data
  return {
    host: set.PLINTH_HOST,
    port: set.PLINTH_PORT,
    publicUrl: set.PLINTH_PUBLIC_URL?.replace(/\/$/, ''),
    s3Host: set.PLINTH_S3_HOST,
    dataDir: resolve(set.PLINTH_DATA_DIR),
    databaseUrl: set.DATABASE_URL,
    replicaUrl: set.PLINTH_REPLICA_URL,
    blobUrl: set.PLINTH_BLOB_URL,
    backup:
      set.PLINTH_BACKUP_URL === undefined
        ? undefined
        : { url: set.PLINTH_BACKUP_URL, hours: set.PLINTH_BACKUP_HOURS, days: set.PLINTH_BACKUP_DAYS },
    adoptsStore: set.PLINTH_ADOPT_STORE === 'true',
    databaseConnections: set.PLINTH_DATABASE_CONNECTIONS,
    adminToken: set.PLINTH_ADMIN_TOKEN,
    masterKeys: set.PLINTH_MASTER_KEY,
    privateHosts: set.PLINTH_ALLOW_PRIVATE_TARGETS ?? readPrivateHosts(''),
    webhookScheduleMs: set.PLINTH_WEBHOOK_SCHEDULE ?? LIMITS.deliveryScheduleMs,
    sendsDeliveries: set.PLINTH_DELIVERIES === 'on',
    corsOrigins: (set.PLINTH_CORS_ORIGINS ?? '')
      .split(',')
      .map((origin) => origin.trim())
      .filter(Boolean),
    operator: { privacyUrl: set.PLINTH_PRIVACY_URL, support: set.PLINTH_SUPPORT },
    oauth:
      set.PLINTH_OAUTH_ISSUER === undefined || set.PLINTH_OAUTH_AUDIENCE === undefined
        ? undefined
        : {
            issuer: set.PLINTH_OAUTH_ISSUER,
            audience: set.PLINTH_OAUTH_AUDIENCE,
            scopes: set.PLINTH_OAUTH_SCOPES?.split(' ') ?? [],
          },
    oauthServer:
      set.PLINTH_OAUTH_SERVER === 'on' ? { registers: set.PLINTH_OAUTH_REGISTRATION === 'on' } : undefined,
    oidc:
      set.PLINTH_OIDC_ISSUER === undefined
        ? undefined
        : {
            issuer: set.PLINTH_OIDC_ISSUER,
            clientId: set.PLINTH_OIDC_CLIENT_ID ?? '',
            clientSecret: set.PLINTH_OIDC_CLIENT_SECRET ?? '',
            scopes: set.PLINTH_OIDC_SCOPES,
            mapping: set.PLINTH_OIDC_GRANTS,
          },
    requestsPerMinute: set.PLINTH_RATE_LIMIT,
    pauseAbove: set.PLINTH_PAUSE_ABOVE,
    connections: set.PLINTH_MAX_CONNECTIONS,
    bodyBytes: set.PLINTH_MAX_BODY_BYTES,
    recordBytes: set.PLINTH_MAX_RECORD_BYTES,
    pageBytes: set.PLINTH_MAX_PAGE_BYTES,
    unsent: { inAll: set.PLINTH_MAX_UNSENT_BYTES, ofToken: set.PLINTH_MAX_UNSENT_BYTES_PER_TOKEN },
    graphqlCost: set.PLINTH_GRAPHQL_MAX_COST,
    sql: set.PLINTH_SQL_ENABLED === 'true' && {
      rows: set.PLINTH_SQL_MAX_ROWS,
      timeoutMs: set.PLINTH_SQL_TIMEOUT_MS,
      bytes: set.PLINTH_SQL_MAX_BYTES,
      writeRows: set.PLINTH_SQL_WRITE_ROWS,
    },
    requestTimeoutMs: set.PLINTH_REQUEST_TIMEOUT_MS,
    sendTimeoutMs: set.PLINTH_SEND_TIMEOUT_MS,
    logLevel: set.PLINTH_LOG_LEVEL,
    logFormat: set.PLINTH_LOG_FORMAT,
    unknownSettings: Object.keys(given).filter(
      (name) => name.startsWith('PLINTH_') && !NAMES.includes(name) && !OF_CLIENT.includes(name),
    ),
  }
}
