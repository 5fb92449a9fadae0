// @module-tag full
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BearerProxy, openBearerProxy } from '../support/bearer-proxy.ts'
import { runSuite } from '../support/conformance.ts'
import { openServer, type TestServer } from '../support/server.ts'
import { fixtureProvider } from './fixture/provider.ts'

/** The scenarios of tasks, which no revision requires. A call never has to become a task here, so one is left out. */
const OF_TASKS = [
  'tasks-lifecycle',
  'tasks-capability-negotiation',
  'tasks-request-state-removal',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
  'tasks-mrtr-composition',
]

/** A suite takes up to thirty seconds: it waits for streams to end. */
const PATIENCE_MS = 600_000
const SUITES = [
  { name: 'the set of 2025-11-25', of: 'current', requirements: '2025-11-25' },
  { name: 'the set of 2026-07-28', of: 'current', requirements: '2026-07-28' },
  { name: 'the suite of the line before', of: 'stable' },
] as const
/** The tests that Plinth fails because it does not use the feature; one that passes fails the run. */
const baseline = fileURLToPath(new URL('./conformance-baseline.yaml', import.meta.url))

describe.each([
  { target: 'Plinth', provider: undefined, expectedFailures: baseline },
  {
    target: 'a server of all that the protocol carries',
    provider: fixtureProvider(),
    expectedFailures: undefined,
  },
])('$target', ({ provider, expectedFailures }) => {
  let server: TestServer
  let proxy: BearerProxy

  beforeAll(async () => {
    server = await openServer({}, undefined, provider)
    await server.call('PUT', '/v1/bases/crm', {})
    await server.call('PUT', '/v1/crm/record-types/task', {})
    proxy = await openBearerProxy(server.url, server.adminToken)
  })
  afterAll(async () => {
    await proxy.close()
    await server.close()
  })

  test.each(SUITES)(
    'conforms to $name',
    async (suite) => {
      const { code, report } = await runSuite(`${proxy.url}/mcp`, {
        ...suite,
        ...(expectedFailures && { expectedFailures }),
      })
      expect(code, report).toBe(0)
    },
    PATIENCE_MS,
  )

  test.runIf(expectedFailures === undefined).each(OF_TASKS)(
    'conforms to %s',
    async (scenario) => {
      const { code, report } = await runSuite(`${proxy.url}/mcp`, { of: 'current', scenario })
      expect(code, report).toBe(0)
    },
    PATIENCE_MS,
  )
})
