/** Memory limit of each server process. */
import { existsSync } from 'node:fs'
import { memoryOfMachine } from '../foundation/machine.ts'

const MEBIBYTE = 1024 * 1024
/** Enough for the largest batch and for sorts and index builds under these settings, times two. */
const LEAST = 192 * MEBIBYTE
/** The virtual size with all shared buffers is then 512 MiB. */
const MOST = 384 * MEBIBYTE
const SHELL = '/bin/sh'

/** A quarter of the memory of the machine or container, within limits. */
export function memoryOfProcess(machine: number = memoryOfMachine()): number {
  return Math.min(MOST, Math.max(LEAST, Math.floor(machine / 4)))
}

/**
 * Command prefix that sets the memory limit with `ulimit`; child processes inherit it. A statement that
 * exceeds it fails with "out of memory". Without the limit, the kernel's OOM killer would end a process and
 * the server would restart all of them. Linux only: elsewhere the limit does not cover `malloc`.
 */
export function memoryPrefix(): string[] {
  if (process.platform !== 'linux' || !existsSync(SHELL)) return []
  const kibibytes = String(Math.floor(memoryOfProcess() / 1024))
  return [SHELL, '-c', 'ulimit -d "$0" 2>/dev/null; exec "$@"', kibibytes]
}
