// @module-tag sampled
/** PostgreSQL hangs for longer than any request waits, and goes on: requests end, nothing acknowledged is lost. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { startChild } from '../support/child-server.ts'
import { scratch } from '../support/scratch.ts'

/** No request takes that long, so that each of the first ones ends while the database hangs. */
const MOST_MS = 60_000
const HANG_MS = 70_000
const BACK_MS = 10_000
const WRITERS = 4

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
    succeed(await server.call('PUT', '/v1/bases/crm', {}), 201)
    succeed(await server.call('PUT', '/v1/crm/record-types/order', {}), 201)
    const acknowledged = new Set<string>()
    const failures: { status: number; retries: string | null; code: string | undefined }[] = []
    let isOver = false
    let longestMs = 0
    const ask = async (method: string, path: string, body?: object): Promise<boolean> => {
      const begun = performance.now()
      const answer = await server.call(method, path, body)
      longestMs = Math.max(longestMs, performance.now() - begun)
      if (answer.status < 300) return true
      const code = answer.body.error?.details[0]?.code
      failures.push({ status: answer.status, retries: answer.headers.get('retry-after'), code })
      await sleep(100)
      return false
    }
    const write = async (writer: number) => {
      for (let n = 0; !isOver; n++)
        if (await ask('PUT', `/v1/crm/records/order/w${writer}-${n}`, { data: { n } }))
          acknowledged.add(`w${writer}-${n}`)
    }
    const read = async () => {
      while (!isOver) await ask('GET', '/v1/crm/records/order?limit=5')
    }
    const running = [read(), ...Array.from({ length: WRITERS }, (_, writer) => write(writer))]
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
    isOver = true
    await Promise.all(running)

    expect(longestMs).toBeLessThan(MOST_MS)
    expect(failures.length).toBeGreaterThan(WRITERS)
    // Who may send it again is told so; of the others it is not known whether they were written.
    for (const { status, retries, code } of failures)
      expect([status >= 500, retries === null]).toEqual([true, code === 'outcome_unknown'])
    const kept = new Set<string>()
    for (let after = 0; ; ) {
      const page = succeed(
        await server.call('GET', `/v1/crm/changes?record_type=order&after=${after}&limit=500`),
      )
      for (const { id, seq } of page.data) {
        kept.add(id)
        after = seq
      }
      if (!page.has_more) break
    }
    expect([...acknowledged].filter((id) => !kept.has(id))).toEqual([])
    console.info(
      `${acknowledged.size} acknowledged, 0 lost; ${failures.length} failed, the longest after ${longestMs.toFixed(0)} ms; writes again after ${backMs.toFixed(0)} ms`,
    )
    await server.kill()
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  },
)
