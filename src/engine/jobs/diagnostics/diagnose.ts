/** What is wrong with an installation: checks of its server, its database, and what the server keeps. */

import { LIMITS } from '../../../foundation/limits.ts'
import { packageVersion } from '../../../foundation/version.ts'
import { countUnreadable } from '../../configuration/vault-secrets/index.ts'
import { requireAllAdmin } from '../../core/authentication/may-manage.ts'
import { read, type Scope } from '../../core/scope.ts'
import { runnerOf } from '../../sql/execution/runner.ts'
import { outgrown } from '../statistics.ts'
import { backupCheck } from './backup-check.ts'
import { error, type Found, ok, roomOn, type Status, warning } from './found.ts'
import { readJobs } from './measure.ts'
import { DATABASE, type DatabaseState, INDEXES, TRIGGERS } from './statements.ts'

export type Check = Found & { readonly name: string }
export type Diagnosis = { readonly status: Status; readonly checks: readonly Check[] }

/**
 * Runs all checks, one after the other. Each reads counters and configuration, and no records.
 * @throws FORBIDDEN unless the caller administers everything
 */
export async function diagnose(scope: Scope): Promise<Diagnosis> {
  requireAllAdmin(scope, 'A diagnosis of the server')
  const checks: Check[] = []
  for (const [name, check] of Object.entries(CHECKS))
    checks.push({ name, ...(await found(scope, name, check)) })
  return { status: worst(checks), checks }
}

const ORDER: readonly Status[] = ['error', 'warning', 'ok']
const worst = (checks: readonly Check[]): Status =>
  ORDER.find((status) => checks.some((check) => check.status === status)) ?? 'ok'

/** A check that cannot be made is an error of its own: the others go on. */
async function found(
  scope: Scope,
  name: string,
  check: (scope: Scope) => Found | Promise<Found>,
): Promise<Found> {
  try {
    return await check(scope)
  } catch (err) {
    scope.log.warn({ err, check: name }, 'a check of the diagnostics failed')
    return error('The check could not be made. The log of the server has the cause.')
  }
}

/** At most some of the names. */
const named = (names: readonly string[], total = names.length): string =>
  `${names.slice(0, LIMITS.diagnosedNames).join(', ')}${total > LIMITS.diagnosedNames ? ', …' : ''}`
const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`

const databaseOf = async (scope: Scope): Promise<DatabaseState> => {
  const [state] = await read<DatabaseState>(scope, DATABASE, [])
  if (!state) throw new Error('PostgreSQL did not describe itself')
  return state
}

const CHECKS = {
  versions: async (scope: Scope) => {
    const { version, number } = await databaseOf(scope)
    const all = `Plinth ${packageVersion()}, Node ${process.versions.node}, PostgreSQL ${version}.`
    const major = Math.floor(number / 10_000)
    return major >= 15 && major <= 18
      ? ok(all)
      : warning(`${all} Use PostgreSQL 15 to 18: others are not tested.`)
  },
  settings: ({ unknownSettings, publicUrl }: Scope) => {
    if (unknownSettings.length > 0)
      return warning(
        `Unknown settings have no effect: ${named(unknownSettings)}. Correct the names, or remove them.`,
      )
    const { protocol, hostname } = new URL(publicUrl() || 'http://localhost')
    if (protocol === 'http:' && !LOOPBACK.test(hostname))
      return warning(
        'Clients send their tokens over plain HTTP. Put a proxy with TLS in front of the server, and set PLINTH_PUBLIC_URL to its address.',
      )
    return ok('All settings are known.')
  },
  database: async (scope: Scope) => {
    const { is_standby: isStandby, used, most } = await databaseOf(scope)
    if (isStandby) return error('The database is read-only. Point DATABASE_URL at the primary server.')
    const connections = `${used} of ${most} connections are in use`
    if (used > most * LIMITS.busyConnections)
      return warning(
        `${connections}. Raise max_connections of PostgreSQL, or lower PLINTH_DATABASE_CONNECTIONS.`,
      )
    return ok(`PostgreSQL takes writes, and ${connections}.`)
  },
  isolation: (scope: Scope) => ISOLATION[runnerOf(scope).isolation()],
  clock: async (scope: Scope) => {
    const before = Date.now()
    const { now_ms: now } = await databaseOf(scope)
    const after = Date.now()
    // What the round trip leaves open is no difference.
    const skew = Math.max(0, before - now, now - after)
    if (skew < LIMITS.clockSkewMs.warning) return ok('The clocks of the server and of the database agree.')
    const differ = `The clocks of the server and of the database differ by ${Math.round(skew / 1000)} s, so tokens, claims and links end at wrong times. Synchronize both with NTP.`
    return skew < LIMITS.clockSkewMs.error ? warning(differ) : error(differ)
  },
  disk: async ({ blobs }: Scope) => {
    const { status, left } = roomOn(await blobs.disk())
    return status === 'ok'
      ? ok(`${left} on the disk of contents.`)
      : { status, message: `Only ${left} on the disk of contents. Free space, or move the data directory.` }
  },
  backup: async ({ backupHealth }: Scope) => backupCheck(await backupHealth?.()),
  replica: ({ standbyHealth }: Scope) => {
    const health = standbyHealth?.()
    if (!health) return ok('Reads have no standby (PLINTH_REPLICA_URL).')
    if (health.state === 'used') return ok(`The standby has answered ${health.reads} statements of reads.`)
    const why = health.state === 'behind' ? 'is behind' : 'does not answer, or follows another database'
    return warning(
      `The standby of PLINTH_REPLICA_URL ${why}, so the primary serves all reads. See its log, and pg_stat_replication of the primary.`,
    )
  },
  statistics: async (scope: Scope) => {
    const tables = await outgrown(scope.db)
    if (tables.length === 0) return ok('The statistics of the query planner are up to date.')
    return warning(
      `${counted(tables.length, 'table')} outgrew the statistics of the query planner: ${named(tables)}. The server renews them within minutes; if this stays, run ANALYZE as the owner of the tables.`,
    )
  },
  slow_lists: ({ slowLists }: Scope) => {
    const lists = slowLists.list()
    if (lists.length === 0) return ok('No list was slow since the server started.')
    const each = lists.map(
      ({ baseId, recordType, count, longestMs }) =>
        `${recordType} of ${baseId} (${counted(count, 'time')}, up to ${Math.round(longestMs)} ms)`,
    )
    return warning(
      `${counted(lists.length, 'kind')} of lists took more than ${LIMITS.slowListMs} ms: ${named(each)}. Narrow their filters, or declare the indexes below.`,
    )
  },
  indexes: async (scope: Scope) => {
    const rows = await read<IndexRow>(scope, INDEXES, [LIMITS.diagnosedNames])
    const failed = rows.filter(({ status }) => status === 'failed')
    if (failed.length > 0)
      return error(
        `The build of ${counted(failed[0]?.total ?? 0, 'index', 'indexes')} failed: ${named(failed.map(indexName), failed[0]?.total)}. The record type lists the "duplicates": remove them, and declare the index again.`,
      )
    const missing = scope.slowLists.list().filter(({ status }) => status === 'undeclared')
    if (missing.length > 0)
      return warning(
        `Indexes that would serve slow lists are missing: ${named(missing.map(({ baseId, recordType, index }) => `${JSON.stringify(index)} of ${recordType} in ${baseId}`))}. Add them to "indexes" of the record types.`,
      )
    return ok(
      rows.length > 0
        ? `${counted(rows[0]?.total ?? 0, 'index is', 'indexes are')} being built: ${named(rows.map(indexName), rows[0]?.total)}.`
        : 'All declared indexes are ready.',
    )
  },
  triggers: async (scope: Scope) => {
    const rows = await read<TriggerRow>(scope, TRIGGERS, [LIMITS.diagnosedNames])
    if (rows.length === 0) return ok('No trigger fails or is held.')
    const of = (state: TriggerRow['state']) => rows.filter((row) => row.state === state)
    const parts = TRIGGER_STATES.flatMap(([state, words, advice]) => {
      const those = of(state)
      const total = those[0]?.total ?? 0
      const ids = named(
        those.map(({ base, id }) => `${id} of ${base}`),
        total,
      )
      return total === 0 ? [] : [`${words}: ${counted(total, 'trigger')} (${ids}). ${advice}`]
    })
    return of('disabled').length > 0 ? error(parts.join(' ')) : warning(parts.join(' '))
  },
  secrets: async (scope: Scope) => {
    const count = await countUnreadable(scope)
    if (count === 0 && scope.vault.isUsable) return ok('All secrets are under a master key of the server.')
    return error(
      `${count === 0 ? 'New secrets cannot be stored' : `${counted(count, 'secret')} cannot be opened`}: the server does not have their master key. Add that key to PLINTH_MASTER_KEY.`,
    )
  },
  jobs: async (scope: Scope) => {
    const rows = await readJobs(scope.db)
    const tasksOf = (isMeant: (row: (typeof rows)[number]) => boolean) => {
      const those = rows.filter(isMeant)
      return {
        count: those.reduce((sum, { count }) => sum + count, 0),
        tasks: named(those.map(({ task }) => task)),
      }
    }
    const failed = tasksOf(({ state }) => state === 'failed')
    if (failed.count > 0)
      return error(
        `${counted(failed.count, 'job')} failed for good: ${failed.tasks}. The log has "a job failed" with the cause.`,
      )
    const late = tasksOf(({ state, oldest }) => state === 'due' && oldest * 1000 > LIMITS.lateJobMs)
    if (late.count > 0)
      return warning(
        `${counted(late.count, 'job')} should have run long ago: ${late.tasks}. Look for "a job failed" in the log.`,
      )
    return ok('No background job failed or is late.')
  },
} as const satisfies Readonly<Record<string, (scope: Scope) => Found | Promise<Found>>>

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

const ISOLATION = {
  full: ok('SQL of users runs under roles of its own, in a database without privileges of PUBLIC.'),
  roles: ok(
    'SQL of users runs under roles of its own. A database and a superuser of its own would isolate it fully.',
  ),
  parser_only: warning(
    'Only the parser isolates SQL of users: it runs under the login of the server. Give the login CREATEROLE, or set PLINTH_SQL_ENABLED=false.',
  ),
  off: ok('SQL of users is disabled.'),
} as const

type IndexRow = {
  base: string
  type: string
  fields: readonly { field: string }[]
  status: string
  total: number
}
const indexName = ({ base, type, fields }: IndexRow): string =>
  `${fields.map(({ field }) => field).join('+')} of ${type} in ${base}`

type TriggerRow = { base: string; id: string; state: 'disabled' | 'failing' | 'held'; total: number }
/** What is wrong in each state, and what to do. */
const TRIGGER_STATES = [
  ['disabled', 'Disabled by the server', 'Correct the receivers, and enable them again.'],
  ['failing', 'Failing', 'Their deliveries say why.'],
  ['held', 'Held in previews, because production sends to the same address', 'Give each another "url".'],
] as const
