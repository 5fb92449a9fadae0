import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { succeed } from './answers.ts'
import type { TestDatabase } from './database.ts'
import { type Answer, type Call, openServer, type TestServer } from './server.ts'

type GrantInput = {
  base?: unknown
  record_type?: unknown
  endpoint?: unknown
  environment?: string
  permission: string
  writes?: unknown
}

/** A row of the change log table. */
export type LogRow = {
  seq: string
  base_id: string
  xid: string
  kind: string
  record_type: string | null
  id: string
  operation: string
  version: number
  data: Record<string, unknown>
  external_source: string | null
  external_id: string | null
  cancelled_at: Date | null
  token_id: string | null
  actor_name: string
  via: string
  request_id: string
  cause: string | null
}

/** A server with the base `crm` and helpers for common tasks. */
export type World = TestServer & {
  /** Creates a record type in `crm` and returns its id. */
  newType(body?: object): Promise<string>
  /** Creates a token and returns its value and id. */
  newToken(grants: readonly GrantInput[], more?: object): Promise<{ id: string; token: string; call: Call }>
  /** Change log entries of one record, or of all records of a type, in order. */
  logOf(recordType: string, id?: string, base?: string): Promise<LogRow[]>
}

export async function openWorld(env: Record<string, string> = {}, shared?: TestDatabase): Promise<World> {
  const server = await openServer(env, shared)
  const made = await server.call('PUT', '/v1/bases/crm', {})
  if (!shared) succeed(made, 201)
  let serial = 0
  return {
    ...server,
    newType: async (body = {}) => {
      const id = `type${++serial}`
      succeed(await server.call('PUT', `/v1/crm/record-types/${id}`, body), 201)
      return id
    },
    newToken: async (grants, more = {}) => {
      const whole = grants.map((grant) => ({
        ...{ base: 'crm', environment: '*' },
        ...(grant.endpoint === undefined && { record_type: '*' }),
        ...grant,
      }))
      const body = { name: `token ${++serial}`, grants: whole, ...more }
      const { id, token } = succeed(await server.call('POST', '/v1/tokens', body), 201)
      return { id, token, call: server.as(token) }
    },
    logOf: (recordType, id, base = 'crm') =>
      server.database.query<LogRow>(
        `SELECT * FROM plinth.change WHERE base_id = $1 AND kind = 'record' AND record_type = $2
           AND ($3::text IS NULL OR id = $3) ORDER BY seq`,
        [base, recordType, id ?? null],
      ),
  }
}

/** A world whose server knows its own address. */
export async function openPublic(): Promise<World> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return openWorld({ PLINTH_PORT: String(port), PLINTH_PUBLIC_URL: `http://127.0.0.1:${port}` })
}

/** Sends a JSON Patch (RFC 6902). */
export const patchJson = (
  call: Call,
  path: string,
  operations: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  call('PATCH', path, JSON.stringify(operations), {
    'content-type': 'application/json-patch+json',
    ...headers,
  })

/** Claims the oldest free record of a type in `crm`, under an id chosen by the test. */
export async function claimAs(
  server: TestServer,
  id: string,
  recordType: string,
  base = 'crm',
): Promise<void> {
  const { data } = succeed(await server.call('POST', `/v1/${base}/records/${recordType}/claim`))
  await server.database.query('UPDATE plinth.claim SET id = $1 WHERE base_id = $3 AND id = $2', [
    id,
    data[0].claim.id,
    base,
  ])
}
