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
test('collectWhenIdle returns freed pages to the operating system', () => {
  const module = new URL('../src/foundation/idle-collection.ts', import.meta.url)
  const script = `
    import { collectWhenIdle } from ${JSON.stringify(module.href)}
    collectWhenIdle(50)
    const garbage = () => Array.from({ length: 2_000_000 }, (_, i) => ({ text: 'garbage ' + i, list: [i] })).length
    const before = process.memoryUsage.rss()
    garbage()
    const full = process.memoryUsage.rss()
    setInterval(() => {
      const kept = (process.memoryUsage.rss() - before) / (full - before)
      if (kept > 0.3) return
      console.log(JSON.stringify({ grownMb: (full - before) / 1048576, kept }))
      process.exit(0)
    }, 50)`
  const run = spawnSync(process.execPath, ['--no-memory-reducer', '--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 20_000,
  })
  const { grownMb, kept } = JSON.parse(run.stdout)
  expect(grownMb).toBeGreaterThan(96)
  expect(kept).toBeLessThan(0.3)
})
