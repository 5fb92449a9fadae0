/** A primary and its standby, both of the embedded PostgreSQL: no other program is needed. */
import { execFileSync } from 'node:child_process'
import { chownSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Cluster, openCluster } from '../../src/postgres/cluster.ts'
import { serverProcesses } from '../../src/postgres/processes.ts'
import { scratch } from './scratch.ts'

const quiet = { info() {}, warn() {} }
const REPLICATES = { wal_level: 'replica', max_wal_senders: '5', wal_keep_size: '512MB' }

type Node = {
  readonly url: string
  query<Row extends object>(text: string): Promise<Row[]>
  /** Sends all of its processes a signal: SIGKILL is the loss of the machine, SIGSTOP one that hangs. */
  signal(name: NodeJS.Signals): void
  /** Starts it again after its end. */
  start(): Promise<void>
}
export type Pair = { readonly primary: Node; readonly standby: Node; close(): Promise<void> }

/**
 * Starts both. With `isSynchronous` a commit waits for the standby.
 * @param settings of both, which replace those of Plinth
 */
export async function openPair({
  isSynchronous = false,
  settings = {},
}: {
  isSynchronous?: boolean
  settings?: Readonly<Record<string, string>>
}): Promise<Pair> {
  const root = await scratch('plinth-pair-')
  const clusters: Cluster[] = []
  const start = async (name: string, more: Readonly<Record<string, string>> = {}): Promise<Node> => {
    const dataDir = join(root, name)
    const open = async (): Promise<string> => {
      const cluster = await openCluster({
        dataDir,
        log: quiet,
        settings: { ...REPLICATES, ...settings, ...more },
      })
      clusters.push(cluster)
      return cluster.url
    }
    return { ...nodeOf(await open(), join(dataDir, 'postgres')), start: async () => void (await open()) }
  }
  const primary = await start('primary')
  await copyRunning(primary, join(root, 'primary', 'postgres'), join(root, 'standby'))
  const socket = new URL(primary.url).searchParams.get('host') ?? ''
  const standby = await start('standby', {
    primary_conninfo: `host='${socket}' port=5432 user=plinth application_name=standby`,
  })
  const states = `SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'`
  while ((await primary.query(states)).length === 0) await sleep(50)
  if (isSynchronous) {
    await primary.query(`ALTER SYSTEM SET synchronous_standby_names = 'standby'`)
    await primary.query('SELECT pg_reload_conf()')
    while ((await primary.query<{ sync_state: string }>(states))[0]?.sync_state !== 'sync') await sleep(50)
  }
  const close = async () => {
    for (const cluster of clusters.reverse()) await cluster.stop()
    await rm(root, { recursive: true, force: true, maxRetries: 5 })
  }
  return { primary, standby, close }
}

function nodeOf(url: string, pgdata: string): Omit<Node, 'start'> {
  return {
    url,
    query: async <Row extends object>(text: string): Promise<Row[]> => {
      const client = new pg.Client({ connectionString: url })
      client.on('error', () => {})
      await client.connect()
      try {
        return (await client.query<Row>(text)).rows
      } finally {
        await client.end()
      }
    },
    signal: (name) => {
      for (const pid of serverProcesses(pgdata))
        try {
          process.kill(pid, name)
        } catch {
          // It has ended by itself.
        }
    },
  }
}

/** A base backup without pg_basebackup, which the embedded package does not have. The session that begins it ends it. */
async function copyRunning({ url }: Node, from: string, dataDir: string): Promise<void> {
  const to = join(dataDir, 'postgres')
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`SELECT pg_backup_start('standby', true)`)
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    execFileSync('cp', ['-a', from, to])
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)')
    const { uid, gid } = statSync(from)
    chownSync(dataDir, uid, gid)
    const write = (name: string, text: string) => {
      writeFileSync(join(to, name), text, { mode: 0o600 })
      chownSync(join(to, name), uid, gid)
    }
    write('backup_label', rows[0]?.labelfile ?? '')
    write('standby.signal', '')
    for (const name of ['postmaster.pid', 'postmaster.opts']) rmSync(join(to, name), { force: true })
    for (const name of readdirSync(join(to, 'pg_wal')))
      if (/^[0-9A-F]{24}/.test(name)) rmSync(join(to, 'pg_wal', name))
  } finally {
    await client.end()
  }
}
