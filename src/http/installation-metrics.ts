/** Metrics of the installation: its versions, jobs, sizes, streams and refused requests. No label names a token or a base. */
import type { FastifyInstance } from 'fastify'
import { Counter, Gauge, type Registry } from 'prom-client'
import { packageVersion } from '../foundation/version.ts'
import type { RateLimiter } from './rate-limit.ts'

/** What the database and its disk say; undefined while the database is away. */
type Measured = {
  readonly postgres: string
  readonly databaseBytes: number
  readonly disk: { readonly free: number }
  readonly rows: Readonly<Record<string, number>>
  readonly jobs: readonly { task: string; state: string; count: number; oldest: number }[]
}
export type InstallationDeps = {
  measures: () => Promise<Measured | undefined>
  sqlIsolation: () => string
  limiter: Pick<RateLimiter, 'refused'>
}

export function measureInstallation(
  app: FastifyInstance,
  registry: Registry,
  { measures, sqlIsolation, limiter }: InstallationDeps,
): void {
  const measured = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    fill: (gauge: Gauge<Label>, now: Measured) => void,
  ) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const now = await measures()
        this.reset()
        if (now) fill(this, now)
      },
    })
  measured(
    'plinth_build_info',
    'Versions, and the isolation of SQL.',
    ['version', 'postgres', 'sql_isolation'],
    (gauge, { postgres }) =>
      gauge.set({ version: packageVersion(), postgres, sql_isolation: sqlIsolation() }, 1),
  )
  measured('plinth_jobs', 'Background jobs.', ['task', 'state'], (gauge, { jobs }) => {
    for (const { task, state, count } of jobs) gauge.set({ task, state }, count)
  })
  measured('plinth_job_oldest_seconds', 'How long the oldest job is due.', [], (gauge, { jobs }) =>
    gauge.set(Math.max(0, ...jobs.flatMap(({ state, oldest }) => (state === 'due' ? [oldest] : [])))),
  )
  measured(
    'plinth_bytes',
    'Bytes of the database, and those that are free on the disk of contents.',
    ['of'],
    (gauge, { databaseBytes, disk }) => {
      gauge.set({ of: 'database' }, databaseBytes)
      gauge.set({ of: 'free' }, disk.free)
    },
  )
  measured(
    'plinth_rows',
    'Rows of the tables that grow, as PostgreSQL estimates them.',
    ['table'],
    (gauge, { rows }) => {
      for (const [table, count] of Object.entries(rows)) gauge.set({ table }, count)
    },
  )
  new Gauge({
    name: 'plinth_streams',
    help: 'Open event streams.',
    labelNames: ['surface'],
    registers: [registry],
    collect() {
      for (const [surface, count] of app.openStreams) this.set({ surface }, count)
    },
  })
  new Counter({
    name: 'plinth_rate_limited_total',
    help: 'Requests refused for their rate: of a token, of an address without one, or of an address with wrong ones.',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [reason, count] of Object.entries(limiter.refused)) this.inc({ reason }, count)
    },
  })
}
