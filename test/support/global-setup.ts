import { rm } from 'node:fs/promises'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { migrate } from '../../src/engine/storage/database/migrate.ts'
import { openCluster } from '../../src/postgres/cluster.ts'
import { scratch } from './scratch.ts'

/**
 * The data of tests is disposable, so nothing waits for the disk. Crash tests start servers of their own. Autovacuum
 * would visit each clone every 15 s, and change plans at a time of its own.
 */
const DISPOSABLE = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', autovacuum: 'off' }
const quiet = { info: () => {}, warn: () => {} }

/** Seed of generated tests. Printed, so that a failure can be reproduced. */
function seedOfRun(): number {
  const given =
    process.env['PLINTH_TEST_SEED'] ?? (process.env['PLINTH_TEST'] === 'long' ? undefined : '20261121')
  return Number(given ?? Math.floor(Math.random() * 2 ** 31))
}

/**
 * Starts one PostgreSQL for the run, with a migrated template that each test file clones. `DATABASE_URL`
 * selects an existing server.
 */
export default async function setup(project: TestProject) {
  const given = process.env['DATABASE_URL']
  const dataDir = await scratch('plinth-test-')
  const cluster = given ? undefined : await openCluster({ dataDir, log: quiet, settings: DISPOSABLE })
  const server = given ?? cluster?.url ?? ''
  const template = `plinth_template_${process.pid}`
  await onServer(server, async (client) => {
    await client.query(`CREATE DATABASE ${template}`)
  })
  await migrate(databaseUrl(server, template))
  const seed = seedOfRun()
  console.info(`PLINTH_TEST_SEED=${seed}`)
  project.provide('seed', seed)
  project.provide('server', server)
  project.provide('template', template)
  return async () => {
    if (cluster) await cluster.stop()
    else await onServer(server, (client) => dropClones(client, template))
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function dropClones(client: pg.Client, template: string): Promise<void> {
  const { rows } = await client.query<{ datname: string }>(
    `SELECT datname FROM pg_database WHERE datname LIKE '${template}%'`,
  )
  for (const { datname } of rows) await client.query(`DROP DATABASE "${datname}" WITH (FORCE)`)
}

/** Runs a task on a connection of its own. */
export async function onServer(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

export function databaseUrl(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

declare module 'vitest' {
  interface ProvidedContext {
    server: string
    template: string
    seed: number
  }
}
