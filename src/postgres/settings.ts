/** The embedded server's settings: on its command line, so that they follow the program and not the data. */

export const SUPERUSER = 'plinth'
export const DATABASE = 'plinth'
/** Names the socket file; the port of nothing on the network. */
export const SOCKET_PORT = 5432

const SETTINGS = {
  max_connections: '100',
  shared_buffers: '128MB',
  fsync: 'on',
  synchronous_commit: 'on',
  // One machine, no replicas: the least that still survives a crash.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  // Compiling a plan costs more than the short statements it would speed up.
  jit: 'off',
  // Data just written are vacuumed soon, so that index-only scans need not visit the table.
  autovacuum_naptime: '15s',
  timezone: 'UTC',
  log_timezone: 'UTC',
  standard_conforming_strings: 'on',
  // A statement whose client has gone stops within half a second.
  client_connection_check_interval: '500ms',
  // Errors, statements and details may hold users' data: they stay out of the log. Errors reach whoever ran the statement.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
} as const

/** `-c name=value` for each setting. */
export function settingArguments(listening: Record<string, string>): string[] {
  return Object.entries({ ...SETTINGS, ...listening }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** Our environment without what would steer PostgreSQL behind our back. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name))
  return { ...Object.fromEntries(kept), LC_ALL: 'C' }
}
