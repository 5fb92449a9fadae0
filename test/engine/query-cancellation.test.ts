// @module-tag full
/** A read whose client disconnects is cancelled, also if the first cancel request arrives before its statement. */
import { expect, test } from 'vitest'
import { DisconnectWatch } from '../../src/engine/storage/database/query-cancellation.ts'

test('a cancel request without effect is sent again, and none after the read ends', async () => {
  const client = new AbortController()
  client.abort()
  const second = Promise.withResolvers<void>()
  let sent = 0
  const cancel = async () => {
    if (++sent === 2) second.resolve()
  }
  const watch = new DisconnectWatch(() => client.signal, { cancel } as never)
  watch.runsOn({} as never)
  await second.promise
  await watch.end()
  expect(sent).toBe(2)
})
