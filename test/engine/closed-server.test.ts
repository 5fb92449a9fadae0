import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { plinth } from '../../src/mcp/plinth-provider.ts'
import { openServer } from '../support/server.ts'

/** Opens a server, uses it and closes it. The result is what only that server kept. */
async function remnantOfServer(): Promise<WeakRef<object>> {
  const provider = { ...plinth }
  const server = await openServer({}, undefined, provider)
  await server.call('PUT', '/v1/bases/crm', {})
  await server.close()
  return new WeakRef(provider)
}

// The files of a worker would otherwise keep a hundred servers, and collect garbage for a quarter of their time.
test('a closed server leaves nothing in memory', { tags: 'full' }, async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  const remnant = await remnantOfServer()
  // The job runner holds a timer of five seconds.
  const isLeft = () => {
    collect()
    return remnant.deref() !== undefined
  }
  await expect.poll(isLeft, { interval: 1000 }).toBe(false)
})
