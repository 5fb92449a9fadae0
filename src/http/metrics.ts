/** What `/metrics` shows beside the requests: a row for each. No label names a token, a base or a record: there can be any number. */
import { Counter, Gauge, type Registry } from 'prom-client'
import { packageVersion } from '../foundation/version.ts'

/** What the database and its disks say; undefined while the database is away. */
type Measured = {
  readonly postgres: string
  readonly databaseBytes: number
  readonly walBytes: number | null
  readonly contentBytes: number | undefined
  readonly disk: { readonly free: number }
  readonly rows: Readonly<Record<string, number>>
  readonly jobs: readonly { task: string; state: string; count: number; oldest: number }[]
  readonly deliveries: readonly { kind: string; status: string; count: number }[]
  readonly oldestDue: number
  readonly feedLag: number
}
type Counts = Readonly<Record<string, number>>
export type Sources = {
  measures: () => Promise<Measured | undefined>
  load: () => { running: number; waiting: number; refused: number }
  sqlIsolation: () => string
  /** Undefined without PLINTH_BACKUP_URL. */
  backup: () => { state: string; last_at: string | null; wal_to: string | null } | undefined
  archiveFailures: () => number | undefined
  leads: () => Readonly<Record<string, boolean>>
  /** Undefined without PLINTH_REPLICA_URL. */
  standby: () =>
    | { state: string; lagSeconds: number | undefined; reads: number; fallbacks: Counts }
    | undefined
  /** Of this process: open event streams by surface, refused requests by reason, calls of tools by outcome. */
  streams: () => Counts
  refused: () => Counts
  toolCalls: () => Counts
}

/** Values by their labels, in the order of the row; a value without labels; nothing where it is not known. */
type Values = readonly (readonly [...labels: string[], value: number])[] | number | undefined
type Row = {
  readonly name: `plinth_${string}`
  readonly help: string
  readonly labels?: readonly string[]
  /** From the database, measured at most every 15 seconds. */
  readonly measured?: (now: Measured, sources: Sources) => Values
  /** From this process, at each scrape. */
  readonly current?: (sources: Sources) => Values
}

const known = (of: string, value: number | null | undefined): [string, number][] =>
  value === null || value === undefined ? [] : [[of, value]]

const secondsSince = (at: string | null | undefined): number | undefined =>
  typeof at === 'string' ? Math.max(0, (Date.now() - Date.parse(at)) / 1000) : undefined

const ROWS: readonly Row[] = [
  {
    name: 'plinth_build_info',
    help: 'Versions, and the isolation of SQL.',
    labels: ['version', 'postgres', 'sql_isolation'],
    measured: ({ postgres }, { sqlIsolation }) => [[packageVersion(), postgres, sqlIsolation(), 1]],
  },
  {
    name: 'plinth_database_in_use',
    help: 'Database connections in use.',
    current: ({ load }) => load().running,
  },
  {
    name: 'plinth_database_waiting',
    help: 'Work waiting for a database connection.',
    current: ({ load }) => load().waiting,
  },
  {
    name: 'plinth_database_refused_total',
    help: 'Work that got no database connection in time.',
    current: ({ load }) => load().refused,
  },
  {
    name: 'plinth_deliveries',
    help: 'Deliveries that have not succeeded, by kind and status; up to 10,000 of each base and status.',
    labels: ['kind', 'status'],
    measured: ({ deliveries }) => deliveries.map(({ kind, status, count }) => [kind, status, count]),
  },
  {
    name: 'plinth_delivery_oldest_due_seconds',
    help: 'How long the delivery of a trigger that has waited longest is overdue.',
    measured: ({ oldestDue }) => oldestDue,
  },
  {
    name: 'plinth_jobs',
    help: 'Background jobs.',
    labels: ['task', 'state'],
    measured: ({ jobs }) => jobs.map(({ task, state, count }) => [task, state, count]),
  },
  {
    name: 'plinth_job_oldest_seconds',
    help: 'How long the oldest job is due.',
    measured: ({ jobs }) =>
      Math.max(0, ...jobs.flatMap(({ state, oldest }) => (state === 'due' ? [oldest] : []))),
  },
  {
    name: 'plinth_feed_lag_seconds',
    help: 'How long changes have waited for the oldest open write, or to be matched with triggers.',
    measured: ({ feedLag }) => feedLag,
  },
  {
    name: 'plinth_bytes',
    help: 'Bytes of the database, its write-ahead log and the store of contents, and those that are free on the disk of contents.',
    labels: ['of'],
    measured: ({ databaseBytes, walBytes, contentBytes, disk }) => [
      ...known('database', databaseBytes),
      ...known('wal', walBytes),
      ...known('contents', contentBytes),
      ...known('free', disk.free),
    ],
  },
  {
    name: 'plinth_rows',
    help: 'Rows of the tables that grow, as PostgreSQL estimates them.',
    labels: ['table'],
    measured: ({ rows }) => Object.entries(rows),
  },
  {
    name: 'plinth_leader',
    help: 'Whether this process does the work that one process of those on a database does.',
    labels: ['work'],
    current: ({ leads }) => Object.entries(leads()).map(([work, isLeader]) => [work, isLeader ? 1 : 0]),
  },
  {
    name: 'plinth_replica_lag_seconds',
    help: 'How old what is read on the standby may be.',
    current: ({ standby }) => standby()?.lagSeconds,
  },
  {
    name: 'plinth_replica_reads_total',
    help: 'Statements that the standby answered.',
    current: ({ standby }) => standby()?.reads,
  },
  {
    name: 'plinth_replica_fallbacks_total',
    help: 'Statements that the primary answered for the standby: after a write of the token or of configuration (fresh), or because the standby was behind or away (behind), stopped them for its replay (conflict), or failed.',
    labels: ['reason'],
    current: ({ standby }) => Object.entries(standby()?.fallbacks ?? {}),
  },
  {
    name: 'plinth_backup_last_seconds',
    help: 'How long ago the newest backup was made.',
    current: ({ backup }) => secondsSince(backup()?.last_at),
  },
  {
    name: 'plinth_wal_archived_seconds',
    help: 'How long ago the last moment was that can be restored.',
    current: ({ backup }) => secondsSince(backup()?.wal_to),
  },
  {
    name: 'plinth_wal_archive_failures_total',
    help: 'Failures to archive WAL, or to make a backup.',
    current: ({ archiveFailures }) => archiveFailures(),
  },
  {
    name: 'plinth_streams',
    help: 'Open event streams.',
    labels: ['surface'],
    current: ({ streams }) => Object.entries(streams()),
  },
  {
    name: 'plinth_tool_calls_total',
    help: 'Calls of MCP tools: ok, cancelled, input_required, or the code of the error.',
    labels: ['outcome'],
    current: ({ toolCalls }) => Object.entries(toolCalls()),
  },
  {
    name: 'plinth_rate_limited_total',
    help: 'Requests refused for their rate: of a token, of an address without one, or of an address with wrong ones.',
    labels: ['reason'],
    current: ({ refused }) => Object.entries(refused()),
  },
]

/** Registers the rows. A metric whose name ends in `_total` is a counter. */
export function registerMetrics(registry: Registry, sources: Sources): void {
  for (const { name, help, labels = [], measured, current } of ROWS) {
    const valuesOf = async (): Promise<Values> => {
      if (current) return current(sources)
      const now = await sources.measures()
      return now && measured?.(now, sources)
    }
    const Metric = name.endsWith('_total') ? Counter : Gauge
    new Metric({
      name,
      help,
      labelNames: labels,
      registers: [registry],
      async collect() {
        const values = await valuesOf()
        this.reset()
        // Without labels a reset leaves a zero, which would be taken for a value.
        if (values === undefined && labels.length === 0) this.remove()
        for (const row of typeof values === 'number' ? [[values]] : (values ?? []))
          this.inc(
            Object.fromEntries(labels.map((label, at) => [label, String(row[at])])),
            Number(row.at(-1)),
          )
      },
    })
  }
}
