/** How much memory of its own each process of the server may take. */
import { existsSync } from 'node:fs'
import { memoryOfMachine } from '../foundation/machine.ts'

const MEBIBYTE = 1024 * 1024
/** Room for the largest batch, for the sorts and the builds of indexes that the settings allow, and twice as much. */
const LEAST = 192 * MEBIBYTE
/** With all shared buffers, which a process maps too, 512 MiB. */
const MOST = 384 * MEBIBYTE
const SHELL = '/bin/sh'

/** A quarter of the machine, or of the container, within bounds. */
export function memoryOfProcess(machine: number = memoryOfMachine()): number {
  return Math.min(MOST, Math.max(LEAST, Math.floor(machine / 4)))
}

/**
 * Goes before the command of the server. Its processes inherit the limit: a statement that wants more gets the error
 * "out of memory", and its process and all others live on. Without a limit the kernel would end one of them, and the server
 * would then restart all of them. Only Linux counts what `malloc` takes under this limit.
 */
export function memoryPrefix(): string[] {
  if (process.platform !== 'linux' || !existsSync(SHELL)) return []
  const kibibytes = String(Math.floor(memoryOfProcess() / 1024))
  return [SHELL, '-c', 'ulimit -d "$0" 2>/dev/null; exec "$@"', kibibytes]
}
