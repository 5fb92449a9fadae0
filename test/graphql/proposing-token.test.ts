// @module-tag full
/** A token that proposes, or whose rules let nothing of it pass, changes nothing of production by any mutation. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillGraph, MUTATIONS } from '../support/graph-samples.ts'
import { productionRows, WITH_POLICIES } from '../support/policies.ts'
import { openUpstream, type Upstream } from '../support/upstream.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let upstream: Upstream
let documentOf: (sample: string, dry: string) => string
beforeAll(async () => {
  upstream = await openUpstream()
  world = await openWorld({ PLINTH_RATE_LIMIT: '0', PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  documentOf = await fillGraph(world, upstream)
})
afterAll(async () => {
  await world.close()
  await upstream.close()
})

test.each(Object.keys(WITH_POLICIES))('no mutation of a token that %s', async (name) => {
  const { call } = await world.newToken(WITH_POLICIES[name] as never)
  let done = 0
  const differing: string[] = []
  for (const [field, sample] of Object.entries(MUTATIONS)) {
    const before = await productionRows(world, 'crm')
    const query = `mutation { ${documentOf(sample, '')} }`
    const { body } = await call('POST', '/graphql', { query })
    if (!body.errors) done++
    else
      expect(body.errors[0].extensions?.code, `${field} ${JSON.stringify(body.errors)}`).not.toBe(
        'INTERNAL_ERROR',
      )
    const after = await productionRows(world, 'crm')
    for (const [table, rows] of Object.entries(after))
      if (rows !== before[table]) differing.push(`${field}: ${table}`)
  }
  expect(differing).toEqual([])
  // Those of records are proposed.
  expect(done).toBeGreaterThan(10)
})
