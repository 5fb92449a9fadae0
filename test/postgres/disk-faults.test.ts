// @module-tag full
/** The disk of the data fills up or is slow: requests end and say so, nothing acknowledged is lost, and writes go on afterwards. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { statfsSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startChild } from '../support/child-server.ts'
import { scratch } from '../support/scratch.ts'
import { expectToldApart, lostOf, startWriting } from '../support/writing.ts'

const MB = 1024 * 1024
const DISK_MB = 400
/** What is left once the disk counts as full: the next pages of tables and of WAL do not fit. */
const LEFT_MB = 6
const MOST_MS = 60_000
/** Where PostgreSQL had to stop, its supervisor starts it again. */
const BACK_MS = 60_000
const FSYNC_MS = 250

const isLong = process.env['PLINTH_TEST'] === 'long' && process.platform === 'linux'
/** Writes while the disk is slow. */
const SLOW_WRITES = isLong ? 100 : 30
const newToken = () => `plt_${randomBytes(32).toString('base64url')}`

/** A disk in memory of that size. Undefined where this process may not mount one. */
async function openDisk(): Promise<string | undefined> {
  const folder = await scratch('plinth-disk-')
  const options = ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=0700`, 'tmpfs', folder]
  if (spawnSync('mount', options).status !== 0) return undefined
  onTestFinished(() => void spawnSync('umount', ['--lazy', folder]))
  return folder
}
const freeMb = (folder: string) => {
  const { bavail, bsize } = statfsSync(folder)
  return (bavail * bsize) / MB
}

// In long runs only: it mounts a disk, which most machines of others do not permit.
test.skipIf(!isLong)(
  'a full disk refuses writes with a reason, and takes them when it has room',
  async ({ skip }) => {
    const disk = await openDisk()
    if (disk === undefined) return skip('This process may not mount a disk.')
    const server = await startChild({ adminToken: newToken() }, { PLINTH_DATA_DIR: disk })
    const writing = await startWriting(server, 20_000)
    const { acknowledged, failures } = writing
    await expect.poll(() => acknowledged.size).toBeGreaterThan(50)
    const filler = join(disk, 'filler')
    writeFileSync(filler, Buffer.alloc(Math.floor(freeMb(disk) - LEFT_MB) * MB))
    await expect.poll(() => failures.length, { timeout: 120_000 }).toBeGreaterThan(50)
    const full = acknowledged.size
    await rm(filler)
    const freed = performance.now()
    await expect.poll(() => acknowledged.size, { timeout: BACK_MS }).toBeGreaterThan(full + 100)
    const backMs = performance.now() - freed
    await writing.end()

    expect(writing.longestMs()).toBeLessThan(MOST_MS)
    expectToldApart(failures)
    expect(await lostOf(server, acknowledged)).toEqual([])
    const codes = Object.groupBy(failures, ({ status, code }) => `${status} ${code}`)
    console.info(
      `${acknowledged.size} acknowledged, 0 lost; ${JSON.stringify(Object.entries(codes).map(([code, of]) => [code, of?.length]))}; 100 writes more ${backMs.toFixed(0)} ms after there was room`,
    )
    await server.kill()
  },
)

/** Each flush of a file takes longer while the file `slow` is there. */
const SLOW = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
static void wait_if(void) { if (access(getenv("PLINTH_TEST_SLOW"), F_OK) == 0) usleep(${FSYNC_MS} * 1000); }
int fsync(int fd) { wait_if(); return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd); }
int fdatasync(int fd) { wait_if(); return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd); }
`

test.skipIf(process.platform !== 'linux')(
  'a slow disk makes writes slow, and fails none',
  async ({ skip }) => {
    const folder = await scratch('plinth-slow-')
    const [library, slow] = [join(folder, 'slow.so'), join(folder, 'slow')]
    writeFileSync(join(folder, 'slow.c'), SLOW)
    const built = spawnSync('gcc', ['-shared', '-fPIC', '-o', library, join(folder, 'slow.c')])
    if (built.status !== 0) return skip('There is no compiler.')
    const server = await startChild(
      { adminToken: newToken() },
      { PLINTH_DATA_DIR: join(folder, 'data'), LD_PRELOAD: library, PLINTH_TEST_SLOW: slow },
    )
    const writing = await startWriting(server)
    const { acknowledged, failures } = writing
    await expect.poll(() => acknowledged.size).toBeGreaterThan(200)
    writeFileSync(slow, '')
    const [before, begun] = [acknowledged.size, performance.now()]
    await expect.poll(() => acknowledged.size, { timeout: 120_000 }).toBeGreaterThan(before + SLOW_WRITES)
    const slowMs = performance.now() - begun
    await rm(slow)
    const after = acknowledged.size
    await expect.poll(() => acknowledged.size).toBeGreaterThan(after + 200)
    await writing.end()

    // Four writers share a flush, so these writes wait for at least a quarter as many.
    expect(slowMs).toBeGreaterThan((SLOW_WRITES / 4 - 2) * FSYNC_MS)
    expect(failures).toEqual([])
    expect(writing.longestMs()).toBeLessThan(MOST_MS)
    expect(await lostOf(server, acknowledged)).toEqual([])
    console.info(
      `${acknowledged.size} acknowledged, 0 lost; ${SLOW_WRITES} writes in ${slowMs.toFixed(0)} ms; longest ${writing.longestMs().toFixed(0)} ms`,
    )
    await server.kill()
  },
)
