// @module-tag full
import { request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure as failure, sleep, succeed, times } from '../../support/answers.ts'
import type { Answer } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
const CSV = { accept: 'text/csv' }
const NDJSON = { accept: 'application/x-ndjson' }
const number = { type: 'number' }
const string = { type: 'string' }
const json_schema = { type: 'object', properties: { name: string, size: number, tags: { type: 'array' } } }

beforeAll(async () => {
  world = await openWorld({ PLINTH_SQL_MAX_BYTES: String(2 * 1024 ** 2) })
  await fill('deal', 1500)
})
afterAll(() => world.close())

async function fill(type: string, count: number, pad = '') {
  succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, { json_schema }), 201)
  for (let from = 0; from < count; from += 500) {
    const operations = times(Math.min(500, count - from), (n) => ({
      type: 'upsert_record',
      record_type: type,
      id: `r${String(from + n).padStart(6, '0')}`,
      data: { name: `N${from + n}${pad}`, size: from + n },
    }))
    succeed(await world.call('POST', '/v1/crm/batch', { operations }))
  }
}
const list = (query: string, headers: Record<string, string>) =>
  world.call('GET', `/v1/crm/records/deal?${query}`, undefined, headers)
const linesOf = ({ text }: Answer) => text.split(/\r?\n/).slice(0, -1)

test('a list is CSV or NDJSON if the client prefers it, and JSON otherwise', async () => {
  const csv = await list('sort=id&limit=2', CSV)
  expect([csv.status, csv.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
  const [head, first = '', ...rest] = linesOf(csv)
  expect(head).toBe('id,external_id,external_source,status,version,created_at,updated_at,name,size,tags')
  expect(first).toMatch(/^r000000,,,active,1,\d{4}-[^,]+Z,\d{4}-[^,]+Z,N0,0,$/)
  expect(rest).toHaveLength(1)
  expect([csv.headers.get('x-has-more'), csv.headers.get('x-next-cursor')]).toEqual([
    'true',
    expect.any(String),
  ])
  const next = await list(
    `sort=id&limit=2&cursor=${csv.headers.get('x-next-cursor')}&include_total=true`,
    NDJSON,
  )
  expect(linesOf(next).map((line) => JSON.parse(line).id)).toEqual(['r000002', 'r000003'])
  expect(next.headers.get('x-total-count')).toBe('1500')
  for (const accept of ['*/*', 'application/xml', 'text/html,*/*;q=0.8', 'application/json, text/csv'])
    expect(succeed(await list('limit=1', { accept })).data).toHaveLength(1)
  expect((await list('limit=1', { accept: 'application/json;q=0.1, text/csv' })).text).toMatch(/^id,/)
})

test('limit=all gives every record once, as CSV and as NDJSON, by GET and by POST', async () => {
  const ids = times(1500, (n) => `r${String(n).padStart(6, '0')}`)
  const whole = await list('limit=all&sort=-data.size', NDJSON)
  expect(linesOf(whole).map((line) => JSON.parse(line).id)).toEqual(ids.toReversed())
  const filter = { field: 'data.size', op: 'gte', value: 1000 }
  const body = { limit: 'all', filter, fields: ['data.name', 'id'], sort: 'id' }
  const csv = await world.call('POST', '/v1/crm/records/deal/query', body, CSV)
  expect(linesOf(csv)).toEqual([
    'id,name',
    ...times(500, (n) => `r${String(n + 1000).padStart(6, '0')},N${n + 1000}`),
  ])
  expect(
    linesOf(await list('limit=all&fields=data.size&filter={"field":"id","op":"eq","value":"none"}', CSV)),
  ).toEqual(['size'])
  const head = await world.call('HEAD', '/v1/crm/records/deal?limit=all', undefined, CSV)
  expect([head.status, head.text, head.headers.get('content-type')]).toEqual([
    200,
    '',
    'text/csv; charset=utf-8',
  ])
})

test('limit=all has no JSON, and no arguments of a page', async () => {
  expect(failure(await list('limit=all', {}), 'VALIDATION_ERROR').details[0]).toMatchObject({
    path: 'query/limit',
    code: 'needs_format',
  })
  const body = { limit: 'all' }
  expect(
    failure(await world.call('POST', '/v1/crm/records/deal/query', body), 'VALIDATION_ERROR').details[0].path,
  ).toBe('/limit')
  for (const other of [
    'offset=1',
    'cursor=x',
    'include_total=true',
    'expand=owner',
    'snippets=true',
    'external_source=x',
  ])
    expect(failure(await list(`limit=all&${other}`, CSV), 'VALIDATION_ERROR').details[0]).toMatchObject({
      path: `query/${other.split('=')[0]}`,
      code: 'exclusive',
    })
  expect(failure(await list('limit=most', CSV), 'VALIDATION_ERROR').details[0].message).toBe(
    '"limit" must be a whole number from 1 to 1000, or "all".',
  )
  expect(failure(await list('limit=1001', CSV), 'VALIDATION_ERROR').details[0].message).toContain(
    'at most 1000',
  )
  expect(failure(await list('limit=all&sort=nope', CSV), 'VALIDATION_ERROR').details[0].path).toBe(
    'query/sort',
  )
  expect(
    failure(await world.call('GET', '/v1/crm/records/none?limit=all', undefined, CSV), 'NOT_FOUND').message,
  ).toContain('none')
})

test('a cell that a spreadsheet would run is quoted, nested values are JSON, and no property is left out', async () => {
  await fill('odd', 0)
  const data = {
    name: '=HYPERLINK("x")',
    size: -1,
    tags: [1, { a: 'b' }],
    more: '-5',
    at: '@sum',
    '+x': '\t1',
  }
  succeed(await world.call('PUT', '/v1/crm/records/odd/a', { data, external_id: '+1-2' }), 201)
  for (const limit of ['all', '10']) {
    const answer = await world.call(
      'GET',
      `/v1/crm/records/odd?limit=${limit}&fields=external_id,data`,
      undefined,
      CSV,
    )
    const [head = '', row = ''] = linesOf(answer)
    const cells = Object.fromEntries(zip(cellsOf(head), cellsOf(row)))
    expect(cells).toEqual({
      external_id: '"+1-2"',
      name: JSON.stringify(data.name),
      size: '-1',
      tags: '[1,{"a":"b"}]',
      more: '-5',
      at: '"@sum"',
      'data.+x': '"\\t1"',
    })
  }
})
const cellsOf = (line: string) =>
  [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)]
    .slice(0, -1)
    .map(([, cell = '']) => cell.replace(/^"(.*)"$/s, '$1').replaceAll('""', '"'))
const zip = (names: string[], values: string[]): [string, string][] =>
  names.map((name, n) => [name, values[n] ?? ''])

test('a whole list reads the past, and records of an earlier schema', async () => {
  await fill('past', 2)
  const moment = new Date().toISOString()
  await sleep(5)
  succeed(await world.call('DELETE', '/v1/crm/records/past/r000000'))
  const at = (query: string) =>
    world.call('GET', `/v1/crm/records/past?limit=all&fields=id${query}`, undefined, NDJSON)
  expect(linesOf(await at(''))).toEqual(['{"id":"r000001"}'])
  expect(linesOf(await at(`&as_of=${moment}&sort=id`))).toEqual(['{"id":"r000000"}', '{"id":"r000001"}'])
})

test('a whole result needs the grant of the list, and of SQL', async () => {
  const { call } = await world.newToken([{ record_type: 'other', permission: 'read' }])
  failure(await call('GET', '/v1/crm/records/deal?limit=all', undefined, CSV), 'FORBIDDEN')
  const sql = await call('POST', '/v1/crm/sql', { query: 'TABLE deal', limit: 'all' }, CSV)
  expect([sql.status, sql.body.error.details[0].code]).toEqual([400, 'unknown_relation'])
})

test('SQL answers CSV and NDJSON, and all rows with limit "all"', { tags: 'full' }, async () => {
  const sql = (body: object, headers = CSV) => world.call('POST', '/v1/crm/sql', body, headers)
  const query = `SELECT id, size, data->'tags' AS tags, '=1' AS "=f", NULL AS none FROM deal ORDER BY size`
  const page = await sql({ query, limit: 2 })
  expect(linesOf(page)).toEqual([
    'id,size,tags,"""=f""",none',
    'r000000,0,,"""=1""",',
    'r000001,1,,"""=1""",',
  ])
  expect(page.headers.get('x-has-more')).toBe('true')
  const all = await sql({ query, limit: 'all' })
  expect(linesOf(all)).toHaveLength(1501)
  const rows = linesOf(
    await sql(
      { query: 'SELECT size FROM deal WHERE size > $1 ORDER BY 1', params: [1497], limit: 'all' },
      NDJSON,
    ),
  )
  expect(rows).toEqual(['{"size":1498}', '{"size":1499}'])
  expect(
    failure(await sql({ query, limit: 'all' }, { accept: 'application/json' }), 'VALIDATION_ERROR').details[0]
      .path,
  ).toBe('/limit')
  expect(failure(await sql({ query: 'SELECT 1/0', limit: 'all' }), 'VALIDATION_ERROR').details[0].code).toBe(
    'invalid_value',
  )
  expect(
    failure(await sql({ query: 'DELETE FROM deal', limit: 'all' }), 'VALIDATION_ERROR').details[0].code,
  ).toBe('not_a_read')
  const wide = await sql({ query: 'SELECT string_agg(a.name, b.name) FROM deal a, deal b', limit: 'all' })
  expect([wide.status, wide.body.error.details[0].code]).toEqual([400, 'too_large'])
})

/** Starts a whole list and reads its first part only. */
function begin(token: string, path: string) {
  const { promise: ended, resolve } = Promise.withResolvers<string>()
  const { promise: started, resolve: start } = Promise.withResolvers<void>()
  const sent = request(`${world.url}${path}`, { headers: { ...CSV, authorization: `Bearer ${token}` } })
  let bytes = 0
  sent.on('response', (response) => {
    response.once('data', () => {
      response.pause()
      start()
    })
    response.on('data', (part: Buffer) => {
      bytes += part.length
    })
    response.on('close', () => resolve(response.complete ? 'whole' : 'cut'))
    response.on('error', () => {})
    sent.on('resume', () => response.resume())
  })
  sent.on('error', () => resolve('cut'))
  sent.end()
  return { started, ended, resume: () => sent.emit('resume'), stop: () => sent.destroy(), bytes: () => bytes }
}
const backends = async () => {
  const [row] = await world.database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%plinth.record %' AND state = 'active' AND pid <> pg_backend_pid() AND application_name = 'plinth'`,
    [],
  )
  return row?.count
}

test('a stream is one snapshot, ends with its token and its client, and keeps other tokens served', {
  tags: 'full',
  timeout: 60_000,
}, async () => {
  await fill('large', 3000, 'x'.repeat(6000))
  const path = '/v1/crm/records/large?limit=all'
  const own = await world.newToken([{ permission: 'read' }])
  const first = begin(own.token, path)
  const second = begin(own.token, path)
  await Promise.all([first.started, second.started])
  succeed(await world.call('DELETE', '/v1/crm/records/large/r002999'))
  // The token has two streams that read nothing: a third one waits, others do not.
  expect((await world.call('GET', `${path}&fields=id`, undefined, CSV)).text.split('\r\n')).toHaveLength(3001)
  succeed(await own.call('GET', '/v1/crm/records/large?limit=1'))
  second.resume()
  expect(await second.ended).toBe('whole')
  expect(second.bytes()).toBeGreaterThan(3000 * 6000)
  const { id } = succeed(await world.call('POST', '/v1/crm/preview', { copy: 'on_write' }), 201)
  const other = await world.newToken([{ permission: 'read' }])
  const drafted = begin(other.token, path.replace('crm', id))
  await drafted.started
  const before = performance.now()
  succeed(await world.call('DELETE', `/v1/tokens/${own.id}`))
  // The rights of open streams are checked twice a second, and the rest would be read faster.
  await sleep(1500)
  first.resume()
  drafted.resume()
  expect(await drafted.ended).toBe('whole')
  expect(await first.ended).toBe('cut')
  expect(performance.now() - before).toBeLessThan(5000)
  const third = begin(other.token, path)
  await third.started
  third.stop()
  await allEnded()
})

/** Waits until no backend reads records. */
async function allEnded(): Promise<void> {
  for (let n = 0; (await backends()) !== 0; n++) {
    expect(n).toBeLessThan(50)
    await sleep(100)
  }
}

test('a whole result that gets no turn within ten seconds is refused, and those that run go on', {
  tags: 'full',
  timeout: 60_000,
}, async () => {
  await fill('waited', 3000, 'x'.repeat(6000))
  const path = '/v1/crm/records/waited?limit=all'
  const { token, call } = await world.newToken([{ permission: 'read' }])
  const [first, second] = [begin(token, path), begin(token, path)]
  await Promise.all([first.started, second.started])
  const before = performance.now()
  const refused = await call('GET', path, undefined, NDJSON)
  expect(performance.now() - before).toBeGreaterThan(9000)
  expect(failure(refused, 'RATE_LIMITED').message).toContain('2 whole results')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  for (const { resume, ended } of [first, second]) {
    resume()
    expect(await ended).toBe('whole')
  }
  expect(linesOf(await call('GET', `${path}&fields=id`, undefined, NDJSON))).toHaveLength(3000)
})

test('a whole result whose reader stops for half a minute is cut, and holds no connection', {
  tags: 'full',
  timeout: 90_000,
}, async () => {
  // More than the kernel holds for a connection that was read fast before: up to 32 MB.
  await fill('stalled', 3000, 'x'.repeat(20_000))
  const { token } = await world.newToken([{ permission: 'read' }])
  const stalled = begin(token, '/v1/crm/records/stalled?limit=all')
  await stalled.started
  const before = performance.now()
  for (let n = 0; (await backends()) !== 0; n++) {
    expect(n).toBeLessThan(600)
    await sleep(100)
  }
  expect(performance.now() - before).toBeGreaterThan(20_000)
  stalled.resume()
  expect(await stalled.ended).toBe('cut')
})

test('a whole result whose client leaves before it begins holds nothing', {
  tags: 'full',
}, async () => {
  await fill('left', 50)
  const { token, call } = await world.newToken([{ permission: 'admin' }])
  const paths = ['/v1/crm/records/left?limit=all', '/v1/crm/export']
  const { hostname, port } = new URL(world.url)
  for (const path of paths)
    for (let ms = 0; ms < 72; ms += 6) {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: */*, ${NDJSON.accept}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
      )
      await sleep(ms)
      socket.resetAndDestroy()
    }
  const open = () =>
    world.database.query(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`,
    )
  await expect.poll(open, { timeout: 20_000 }).toEqual([])
  for (const path of paths) expect((await call('GET', path, undefined, NDJSON)).status).toBe(200)
})

test('a whole result has only the types and states that the token reads', async () => {
  await fill('own', 3)
  await fill('foreign', 3, 'canary')
  const own = await world.newToken([{ permission: 'read', record_type: 'own' }])
  for (const headers of [CSV, NDJSON]) {
    expect((await own.call('GET', '/v1/crm/records/own?limit=all', undefined, headers)).text).toContain('N2')
    const foreign = await own.call('GET', '/v1/crm/records/foreign?limit=all', undefined, headers)
    failure(foreign, 'FORBIDDEN')
    expect(foreign.text).not.toContain('canary')
  }
})
