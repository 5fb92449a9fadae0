/** A restored copy sends nothing until its operator says so: the original may still run, and sends the same. */
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LIMITS } from '../foundation/limits.ts'

/** The file that marks the data directory of a copy. */
const markerOf = (dataDir: string) => join(dataDir, 'restored.json')

export const isHeld = (dataDir: string): boolean => existsSync(markerOf(dataDir))

export const markRestored = (dataDir: string, of: object): Promise<void> =>
  writeFile(markerOf(dataDir), `${JSON.stringify(of)}\n`, { mode: 0o600, flush: true })

/** Lets the copy send. Returns whether it was held. */
export async function release(dataDir: string): Promise<boolean> {
  if (!isHeld(dataDir)) return false
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
  let isStill = isHeld(dataDir)
  const waiting: (() => void)[] = []
  const timer = isStill
    ? setInterval(() => {
        if (isHeld(dataDir)) return
        isStill = false
        clearInterval(timer)
        for (const work of waiting) work()
      }, LIMITS.holdPollMs).unref()
    : undefined
  return {
    isHeld: () => isStill,
    onRelease: (work) => void waiting.push(work),
    close: () => clearInterval(timer),
  }
}
