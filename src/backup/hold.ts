/** A restored copy sends nothing until its operator says so: the original may still run, and sends the same. */
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LIMITS } from '../foundation/limits.ts'

/** The file that marks the data directory of a copy. */
const markerOf = (dataDir: string) => join(dataDir, 'restored.json')

export const markRestored = (dataDir: string, of: object): Promise<void> =>
  writeFile(markerOf(dataDir), `${JSON.stringify(of)}\n`, { mode: 0o600, flush: true })

/** Lets the copy send. Returns whether it was held. */
export async function release(dataDir: string): Promise<boolean> {
  if (!existsSync(markerOf(dataDir))) return false
  await rm(markerOf(dataDir), { force: true })
  return true
}

export type Hold = {
  isHeld(): boolean
  /** Calls back once, when it is released. */
  onRelease(work: () => void): void
  close(): void
}

/** Watches the marker of a data directory. */
export function openHold(dataDir: string): Hold {
  let isHeld = existsSync(markerOf(dataDir))
  const waiting: (() => void)[] = []
  const timer = isHeld
    ? setInterval(() => {
        if (existsSync(markerOf(dataDir))) return
        isHeld = false
        clearInterval(timer)
        for (const work of waiting) work()
      }, LIMITS.holdPollMs).unref()
    : undefined
  return {
    isHeld: () => isHeld,
    onRelease: (work) => void waiting.push(work),
    close: () => clearInterval(timer),
  }
}
