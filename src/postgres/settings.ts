/**
 * Settings of the embedded server. Passed on the command line, so that they follow the program version and
 * not the data directory.
 */

export const SUPERUSER = 'plinth'
export const DATABASE = 'plinth'
/** Part of the name of the socket file. Not a network port. */
export const SOCKET_PORT = 5432

const SETTINGS = {
  max_connections: '100',
  shared_buffers: '64MB',
  fsync: 'on',
  synchronous_commit: 'on',
  // Single machine without replicas: the minimum for crash recovery.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  // JIT compilation costs more than it saves on short statements.
  jit: 'off',
  // Vacuum soon after writes, so that index-only scans can skip the heap.
  autovacuum_naptime: '15s',
  // No plan depends on a large sample, and tables that grow by a tenth are analyzed again and again.
  default_statistics_target: '30',
  timezone: 'UTC',
  log_timezone: 'UTC',
  standard_conforming_strings: 'on',
  // Cancels statements of disconnected clients within half a second.
  client_connection_check_interval: '500ms',
  // Keep user data out of the log: errors and their details go to the client only.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
} as const

/** Formats the settings as `-c name=value` arguments. */
export function settingArguments(listening: Record<string, string>): string[] {
  return Object.entries({ ...SETTINGS, ...listening }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** glibc keeps more of what a connection has freed with each large statement. These bounds end that. */
const ALLOCATOR = {
  MALLOC_TRIM_THRESHOLD_: String(1024 * 1024),
  MALLOC_MMAP_THRESHOLD_: String(4 * 1024 * 1024),
}

/** The environment without variables that configure PostgreSQL, or the allocator of the server. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG|MALLOC_)/.test(name))
  return { ...Object.fromEntries(kept), ...ALLOCATOR, LC_ALL: 'C' }
}
