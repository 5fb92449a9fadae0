// @module-tag full
/** Spans of OpenTelemetry: what an SDK gets that an operator has loaded, and that it gets no value of a caller. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { succeed } from '../../support/answers.ts'
import { startChild } from '../../support/child-server.ts'
import { cloneDatabase } from '../../support/database.ts'
import { openReceiver } from '../../support/receiver.ts'
import { scratch } from '../../support/scratch.ts'
import type { WrittenSpan } from '../../support/span-file.ts'
import { eventually } from '../../support/until.ts'

const SDK = fileURLToPath(new URL('../../support/span-file.ts', import.meta.url))
const parentOf = (trace: string, span: string) => `00-${trace.repeat(32)}-${span.repeat(16)}-01`

test('an SDK gets spans of requests, tools, statements and outgoing requests, within the trace of the client', async () => {
  const database = await cloneDatabase()
  const receiver = await openReceiver()
  const file = join(await scratch('plinth-spans-'), 'spans')
  const adminToken = 'plt_administrator-canary'
  const server = await startChild(
    { database, adminToken },
    {
      NODE_OPTIONS: `--import=${SDK}`,
      SPAN_FILE: file,
      PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1',
    },
  )
  const spans = (): WrittenSpan[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  const spanOf = (is: (span: WrittenSpan) => boolean) => eventually(async () => spans().find(is))
  try {
    const { call } = server
    succeed(await call('PUT', '/v1/bases/crm', {}), 201)
    succeed(await call('PUT', '/v1/crm/record-types/deal', {}), 201)
    const trigger = { record_types: ['deal'], url: `${receiver.url}/deals` }
    succeed(await call('PUT', '/v1/crm/triggers/deals', trigger), 201)
    const canary = 'canary-in-the-mine'
    const data = { data: { [canary]: canary } }
    const traced = { traceparent: parentOf('a', 'b') }
    succeed(await call('PUT', `/v1/crm/records/deal/${canary}`, data, traced), 201)
    const filter = encodeURIComponent(JSON.stringify({ field: `data.${canary}`, op: 'eq', value: canary }))
    succeed(await call('GET', `/v1/crm/records/deal?filter=${filter}`))
    const _meta = { traceparent: parentOf('c', 'd') }
    const asked = (name: string, args: object) =>
      call('POST', '/mcp/crm', {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args, _meta },
      })
    succeed(await asked('get_record', { record_type: 'deal', id: canary }))
    succeed(await asked('get_record', { record_type: 'deal', id: `absent-${canary}` }))
    await asked(`no_${canary}`, {})
    const [delivered] = await eventually(async () => {
      const arrived = receiver.at('/deals')
      return arrived.length > 0 ? arrived : undefined
    })

    const put = await spanOf(({ name }) => name === 'PUT /v1/:base_id/records/:record_type/:id')
    expect(put).toMatchObject({ kind: 1, traceId: 'a'.repeat(32), parent: 'b'.repeat(16), status: 0 })
    expect(put.attributes).toEqual({
      'http.request.method': 'PUT',
      'http.route': '/v1/:base_id/records/:record_type/:id',
      'http.response.status_code': 201,
      'plinth.request_id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    const statement = await spanOf(({ kind, traceId }) => kind === 2 && traceId === put.traceId)
    expect(statement).toMatchObject({
      parent: put.spanId,
      name: expect.stringMatching(/^[a-z_0-9]+$/),
      attributes: { 'db.system.name': 'postgresql' },
    })
    const tools = await eventually(async () => {
      const found = spans().filter(({ name }) => name === 'tools/call get_record')
      return found.length === 2 ? found : undefined
    })
    expect(tools.map(({ attributes }) => attributes['plinth.outcome'])).toEqual(['ok', 'NOT_FOUND'])
    for (const tool of tools) expect(tool).toMatchObject({ traceId: 'c'.repeat(32), parent: 'd'.repeat(16) })
    expect(spans().some(({ parent, kind }) => kind === 2 && parent === tools[0]?.spanId)).toBe(true)
    const post = await spanOf(({ attributes }) => attributes['server.address'] === '127.0.0.1')
    expect(post.attributes).toMatchObject({ 'http.request.method': 'POST', 'http.response.status_code': 204 })
    expect(delivered?.headers['traceparent']).toBe(`00-${post.traceId}-${post.spanId}-01`)
    expect(readFileSync(file, 'utf8')).not.toContain('canary')
  } finally {
    await server.kill()
    await receiver.close()
    await database.drop()
  }
})
