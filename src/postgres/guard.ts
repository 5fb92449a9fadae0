/** Ends the server of a data directory when the Node process that serves it is gone, however that ended. */

import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LIMITS } from '../foundation/limits.ts'
import type { PostgresPaths } from './paths.ts'

const SHELL = '/bin/sh'

/**
 * Reads its input, a pipe that only the Node process holds, until it ends. If the file still names this guard after
 * the grace, no other process has taken the server over: it is shut down, and after 20 s ended at once. A pid file
 * may name a reused pid, so the name of the program is checked. Builtins of the shell but for `sleep`, and `ps`
 * where there is no /proc.
 */
const SCRIPT = `read -r _
sleep ${LIMITS.clusterGraceSeconds}
n=0
while [ $n -lt 60 ] && read -r guard <"$0" && [ "$guard" = "$1" ] && read -r pid <"$2"; do
  read -r name <"/proc/$pid/comm" || name=$(ps -p "$pid" -o comm=)
  case $name in *postgres*) ;; *) exit ;; esac
  case $n in 0) kill -s INT "$pid" ;; 20) kill -s QUIT "$pid" ;; esac
  n=$((n + 1))
  sleep 1
done`

type Guard = { child: ChildProcess; name: string }
const guards = new Map<string, Guard>()

/** Guards the server from now on, in the place of the process that did before. Not on Windows. */
export function guard({ dataDir, pgdata }: PostgresPaths): void {
  if (!existsSync(SHELL)) return
  const file = join(dataDir, 'postgres.guard')
  const guarding = guards.get(dataDir) ?? start(file, join(pgdata, 'postmaster.pid'))
  guards.set(dataDir, guarding)
  writeFileSync(file, `${guarding.name}\n`, { mode: 0o600 })
}

/** Ends the guard. The server must have stopped. */
export function unguard({ dataDir }: PostgresPaths): void {
  guards.get(dataDir)?.child.kill('SIGKILL')
  guards.delete(dataDir)
}

function start(file: string, pidFile: string): Guard {
  const name = randomUUID()
  // A session of its own: what ends the process group of Node must not end the guard.
  const child = spawn(SHELL, ['-c', SCRIPT, file, name, pidFile], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
  })
  child.on('error', () => {})
  child.stdin?.on('error', () => {})
  child.unref()
  ;(child.stdin as unknown as { unref(): void }).unref()
  return { child, name }
}
