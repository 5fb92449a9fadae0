// @module-tag full
import { expect, test } from 'vitest'
import { runInWorker } from '../src/foundation/run-in-worker.ts'

const run = (what: string, bounds = { ms: 60_000, megabytes: 64 }) =>
  runInWorker<string>(import.meta.url, './support/in-worker', what, bounds)

test('work in a thread that takes too much time has no result', async () => {
  expect(await run('spin', { ms: 500, megabytes: 64 })).toBeUndefined()
})

test('a failure of work in a thread is thrown, and is no excess of its bounds', {
  tags: 'full',
}, async () => {
  await expect(run('throw')).rejects.toThrow('a fault of the module')
  await expect(run('exit')).rejects.toThrow('posted nothing')
  await expect(runInWorker(import.meta.url, './support/absent', '')).rejects.toThrow(/absent/)
  expect(await run('answer')).toBe('answer')
})
