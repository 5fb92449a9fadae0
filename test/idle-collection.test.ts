import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { collectWhenIdle } from '../src/foundation/idle-collection.ts'
import { until } from './support/until.ts'

/** Fills the old generation with garbage, and answers whether it is still there. */
function leaveGarbage(): WeakRef<object> {
  const garbage = Array.from({ length: 1_000_000 }, (_, i) => ({ text: `garbage ${i}`, list: [i] }))
  return new WeakRef(garbage)
}

test('an idle process collects the garbage of a load', async () => {
  const end = collectWhenIdle(50)
  const garbage = leaveGarbage()
  // A weak reference holds its target until the end of the turn that made it.
  await sleep(1)
  await until(() => garbage.deref() === undefined)
  end()
  expect(garbage.deref()).toBeUndefined()
})
