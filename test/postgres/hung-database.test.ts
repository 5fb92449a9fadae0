// @module-tag sampled
/** PostgreSQL hangs for longer than any request waits, and goes on: requests end, nothing acknowledged is lost. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startChild } from '../support/child-server.ts'
import { scratch } from '../support/scratch.ts'
import { expectToldApart, lostOf, startWriting } from '../support/writing.ts'

/** No request takes that long, so that each of the first ones ends while the database hangs. */
const MOST_MS = 60_000
const HANG_MS = 70_000
const BACK_MS = 10_000

/** A process with those that it has started. */
function withChildren(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return [pid, ...text.split(' ').filter(Boolean).map(Number)]
}
function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, name)
    } catch {
      // A backend may have ended.
    }
}

test.skipIf(process.env['PLINTH_TEST'] !== 'long' || process.platform !== 'linux')(
  'a database that hangs ends requests in time, and is used again when it goes on',
  async () => {
    const dataDir = await scratch('plinth-hung-')
    const adminToken = `plt_${randomBytes(32).toString('base64url')}`
    const server = await startChild({ adminToken }, { PLINTH_DATA_DIR: dataDir })
    const postmaster = Number(
      readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0],
    )
    const writing = await startWriting(server)
    const { acknowledged, failures } = writing
    await expect.poll(() => acknowledged.size).toBeGreaterThan(50)
    const hung = withChildren(postmaster)
    signal(hung, 'SIGSTOP')
    try {
      await sleep(HANG_MS)
    } finally {
      signal(hung, 'SIGCONT')
    }
    const before = acknowledged.size
    const goesOn = performance.now()
    await expect.poll(() => acknowledged.size, { timeout: BACK_MS }).toBeGreaterThan(before)
    const backMs = performance.now() - goesOn
    await writing.end()

    expect(writing.longestMs()).toBeLessThan(MOST_MS)
    expect(failures.length).toBeGreaterThan(4)
    expectToldApart(failures)
    expect(await lostOf(server, acknowledged)).toEqual([])
    console.info(
      `${acknowledged.size} acknowledged, 0 lost; ${failures.length} failed, the longest after ${writing.longestMs().toFixed(0)} ms; writes again after ${backMs.toFixed(0)} ms`,
    )
    await server.kill()
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  },
)
