/** Long commands: a bar on a terminal, and an end that SIGINT asks for. */
import { EXIT, Failure } from './failure.ts'
import { note } from './print.ts'

const WIDTH = 30

/** Shows a share from 0 to 1 and a count, on a terminal. Without a share there is no bar. */
export function showProgress(records: number, share: number | undefined): void {
  if (!process.stderr.isTTY) return
  const filled = Math.round(Math.min(1, share ?? 0) * WIDTH)
  const bar = share === undefined ? '' : `[${'#'.repeat(filled).padEnd(WIDTH)}] `
  process.stderr.write(`\r${bar}${records} records `)
}

export function endProgress(): void {
  if (process.stderr.isTTY) note('\n')
}

/**
 * Runs work that looks at `isInterrupted` after each step. The first SIGINT sets it, a second one ends the process.
 */
export async function untilInterrupted<T>(work: (isInterrupted: () => boolean) => Promise<T>): Promise<T> {
  let interrupted = false
  const interrupt = () => {
    interrupted = true
  }
  process.once('SIGINT', interrupt)
  try {
    return await work(() => interrupted)
  } finally {
    process.off('SIGINT', interrupt)
  }
}

/** The failure of a command that SIGINT has ended. */
export function interruption(done: string, advice: string | undefined): Failure {
  endProgress()
  return new Failure(
    { error: { code: 'INTERRUPTED', message: done } },
    { exitCode: EXIT.interrupted, advice },
  )
}
