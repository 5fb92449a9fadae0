// @module-tag full
import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { collectWhenIdle } from '../src/foundation/idle-collection.ts'
import { until } from './support/until.ts'

/** Fills the old generation with garbage, and returns a weak reference to it. */
function leaveGarbage(): WeakRef<object> {
  const garbage = Array.from({ length: 1_000_000 }, (_, i) => ({ text: `garbage ${i}`, list: [i] }))
  return new WeakRef(garbage)
}

test('collectWhenIdle collects garbage when the process is idle', async () => {
  const end = collectWhenIdle(50)
  const garbage = leaveGarbage()
  // A new weak reference keeps its target until the end of the current task.
  await sleep(1)
  await until(() => garbage.deref() === undefined)
  end()
  expect(garbage.deref()).toBeUndefined()
})

// V8's own memory reducer, disabled here, returns pages after eight idle seconds.
test('collectWhenIdle returns freed pages to the operating system, also those of a small load at rest', () => {
  const module = new URL('../src/foundation/idle-collection.ts', import.meta.url)
  const script = `
    import { setTimeout as sleep } from 'node:timers/promises'
    import { collectWhenIdle } from ${JSON.stringify(module.href)}
    collectWhenIdle(50)
    const garbage = (length) => Array.from({ length }, (_, i) => ({ text: 'garbage ' + i, list: [i] })).length
    const found = []
    for (const length of [2_000_000, 400_000]) {
      const before = process.memoryUsage.rss()
      garbage(length)
      const full = process.memoryUsage.rss()
      const kept = () => (process.memoryUsage.rss() - before) / (full - before)
      while (kept() > 0.3) await sleep(50)
      found.push({ grownMb: (full - before) / 1048576, kept: kept() })
    }
    console.log(JSON.stringify(found))
    process.exit(0)`
  const run = spawnSync(process.execPath, ['--no-memory-reducer', '--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 20_000,
  })
  const [large, small] = JSON.parse(run.stdout)
  expect(large.grownMb).toBeGreaterThan(96)
  expect(large.kept).toBeLessThan(0.3)
  expect(small.grownMb).toBeLessThan(96)
  expect(small.kept).toBeLessThan(0.3)
})
