/** Checks by connecting whether a server runs. */

import pg from 'pg'
import { LIMITS } from '../foundation/limits.ts'
import { addresses, addressUrl, type PostgresPaths } from './paths.ts'
import { parsePidFile, readPidFile } from './processes.ts'
import { DATABASE } from './settings.ts'

/** `busy`: the server starts, recovers or stops. */
export type Answer =
  | { state: 'ready'; url: string; pid: number; run: string }
  | { state: 'busy' }
  | { state: 'absent' }

const NO_LISTENER = ['ENOENT', 'ECONNREFUSED']
const WHOSE_IS_IT = `SELECT pg_read_file('postmaster.pid', true) AS pid_file,
  EXISTS (SELECT FROM pg_database WHERE datname = '${DATABASE}') AS has_database,
  bool_or(has_database_privilege('public', oid, 'CONNECT')) AS is_open
  FROM pg_database WHERE datname IN ('postgres', 'template1')`

/** Probes all possible addresses of the server. Creates the database if it is missing. */
export async function probe(paths: PostgresPaths): Promise<Answer> {
  for (const address of addresses(paths)) {
    const answer = await ask(paths, addressUrl(paths, address, 'postgres'))
    if (answer.state === 'ready') return { ...answer, url: addressUrl(paths, address) }
    if (answer.state === 'busy') return answer
  }
  return { state: 'absent' }
}

/** Runs one statement on the maintenance database. */
export async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: LIMITS.clusterConnectMs })
  // Without a listener, a broken connection would crash the process. The statement fails anyway.
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end().catch(() => {})
  }
}

async function ask(paths: PostgresPaths, url: string): Promise<Answer> {
  try {
    const [row] = await query<{ pid_file: string | null; has_database: boolean; is_open: boolean }>(
      url,
      WHOSE_IS_IT,
    )
    // A server without its pid file notices that within a minute and stops.
    const server = parsePidFile(row?.pid_file ?? '')
    if (!server || !row) return { state: 'busy' }
    const expected = readPidFile(paths.pgdata)
    if (!expected) return { state: 'busy' }
    if (server.run !== expected.run) throw strangerError(paths)
    if (!row.has_database) await createDatabase(url)
    if (row.is_open)
      await query(url, 'REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC').catch(ignoreRace)
    return { state: 'ready', url, pid: server.pid, run: server.run }
  } catch (error) {
    if (hasNoListener(error)) return { state: 'absent' }
    if (isPassing(error)) return { state: 'busy' }
    throw error
  }
}

function hasNoListener(error: unknown): boolean {
  return NO_LISTENER.includes((error as { code?: string }).code ?? '')
}

/** Whether an error says that the server is gone, or about to be. */
export const isAway = (error: unknown): boolean => hasNoListener(error) || isPassing(error)

/**
 * Whether an error is temporary. Class 57: starting or stopping; 53: out of resources. `pg` sets no code for
 * a closed connection.
 */
function isPassing(error: unknown): boolean {
  const { code, message } = error as { code?: string; message: string }
  if (code === undefined) return /terminated|timeout|not queryable/i.test(message)
  return /^(57P|53)/.test(code) || code === 'ECONNRESET' || code === 'EPIPE'
}

async function createDatabase(url: string): Promise<void> {
  await query(url, `CREATE DATABASE ${DATABASE}`).catch((error: { code?: string }) => {
    // Another process that opens the same cluster created it first.
    if (error.code !== '42P04' && error.code !== '23505') throw error
  })
}

/** Ignores errors from concurrent opens of the same cluster. */
function ignoreRace(error: { code?: string }): void {
  if (error.code !== 'XX000' && error.code !== '40001') throw error
}

function strangerError({ dataDir, run }: PostgresPaths): Error {
  return new Error(`The PostgreSQL in ${run} does not serve ${dataDir}. Stop it, then start again.`)
}
