/** External sources: records that another system holds, read and written through their record type. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed } from '../../support/answers.ts'
import type { Answer, Body } from '../../support/server.ts'
import { type Asked, json, openUpstream, type Upstream } from '../../support/upstream.ts'
import { openWorld, type World } from '../../support/world.ts'

const SECRET = 'sk-live-"q\\uote"-71f3'

let world: World
let upstream: Upstream
const answers: string[] = []
beforeAll(async () => {
  upstream = await openUpstream()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  succeed(await world.call('PUT', '/v1/vault/secrets/CRM_KEY', { value: SECRET, bases: ['crm'] }), 201)
  upstream.on('/contacts', listContacts)
  upstream.on(/^\/contacts\/[^/]+$/, oneContact)
})
afterAll(async () => {
  await world.close()
  await upstream.close()
})

const call: World['call'] = async (...args) => {
  const answer = await world.call(...args)
  answers.push(answer.text)
  return answer
}

/** 25 contacts of the upstream. */
const CONTACTS = Array.from({ length: 25 }, (_, n) => ({
  id: `c${n}`,
  properties: { email: `c${n}@example.com`, stage: n % 2 ? 'closed_won' : 'open' },
  since: 1_700_000_000 + n,
}))

function listContacts({ url, method, body }: Asked, response: Parameters<ReturnType<typeof json>>[1]) {
  if (method === 'POST') return json({ id: 'new1', ...(body as object) }, 201)({} as Asked, response)
  const limit = Number(url.searchParams.get('limit') ?? 1000)
  const offset = Number(url.searchParams.get('offset') ?? 0)
  json({ results: CONTACTS.slice(offset, offset + limit), count: CONTACTS.length })({} as Asked, response)
}

function oneContact({ url, method, body }: Asked, response: Parameters<ReturnType<typeof json>>[1]) {
  const found = CONTACTS.find(({ id }) => url.pathname === `/contacts/${id}`)
  if (!found) return json({ message: 'no such contact' }, 404)({} as Asked, response)
  json(method === 'GET' ? found : { ...found, ...(body as object) })({} as Asked, response)
}

const MAPPING = {
  to_plinth: {
    external_id: '$.id',
    email: '$.properties.email',
    stage: { path: '$.properties.stage', values: { closed_won: 'won' }, default: 'open' },
    since: { path: '$.since', date_format: 'unix' },
  },
  to_external: {
    email: '$.properties.email',
    stage: { path: '$.properties.stage', values: { won: 'closed_won', open: 'open' } },
  },
}
const SCHEMA = {
  type: 'object',
  properties: {
    email: { type: 'string', format: 'email' },
    stage: { enum: ['open', 'won'] },
    since: { type: 'string', format: 'date-time' },
  },
  required: ['email'],
}

/** A source of contacts. */
const contacts = (more: object = {}) => ({
  name: 'hub',
  auth: { header: 'Authorization', value_template: 'Bearer {{secret:CRM_KEY}}' },
  get: { url: `${upstream.url}/contacts/{{external_id}}` },
  list: {
    url: `${upstream.url}/contacts?limit={{limit}}&offset={{offset}}`,
    response_path: '$.results',
    total_path: '$.count',
  },
  create: { url: `${upstream.url}/contacts` },
  update: { url: `${upstream.url}/contacts/{{external_id}}`, method: 'PATCH' },
  field_mapping: MAPPING,
  ...more,
})

async function newContacts(more: object = {}, schema: object = SCHEMA) {
  const type = await world.newType({ json_schema: schema, sources: [contacts(more)] })
  const all = `/v1/crm/records/${type}`
  return { type, all, list: (query = '') => call('GET', `${all}?external_source=hub${query}`) }
}

const lastAsked = () => upstream.asked.at(-1) as Asked
const idsOf = ({ data }: Body) => data.map(({ id }: Body) => id)

describe('reads', () => {
  test('a list is a page of the source, with mapped data and its total', { tags: 'full' }, async () => {
    const { list, type } = await newContacts()
    const first = succeed(await list('&limit=2&offset=1&include_total=true'))
    expect(first).toEqual({
      data: [
        {
          ...{ id: 'c1', external_id: 'c1', external_source: 'hub', record_type: type },
          data: { email: 'c1@example.com', stage: 'won', since: '2023-11-14T22:13:21.000Z' },
          ...{ created_at: null, updated_at: null, version: null, status: null, cancelled_at: null },
        },
        expect.objectContaining({ id: 'c2' }),
      ],
      meta: { has_more: true, limit: 2, offset: 1, total: 25 },
    })
    expect(lastAsked()).toMatchObject({ method: 'GET', headers: { authorization: `Bearer ${SECRET}` } })
    expect(lastAsked().url.search).toBe('?limit=2&offset=1')
    const seen: string[] = []
    for (let offset = 0; ; offset += 10) {
      const page = succeed(await list(`&limit=10&offset=${offset}&fields=id,data.email`))
      seen.push(...idsOf(page))
      expect(page.data[0]).toEqual({ id: `c${offset}`, data: { email: `c${offset}@example.com` } })
      expect(page.meta.total).toBeUndefined()
      if (!page.meta.has_more) break
    }
    expect(seen).toEqual(CONTACTS.map(({ id }) => id))
  })

  test('a renamed property keeps its place in the mapping, and a source without one is named', {
    tags: 'full',
  }, async () => {
    const { type, list } = await newContacts()
    const rename = (from: string, to: string) =>
      call('PATCH', `/v1/crm/record-types/${type}?migrate=true`, {
        migration: [{ op: 'rename', field: from, to }],
      })
    const { sources, meta } = succeed(await rename('email', 'mail'))
    const { email, ...rest } = MAPPING.to_plinth
    const { email: sent, ...others } = MAPPING.to_external
    expect(sources[0].field_mapping).toEqual({
      to_plinth: { ...rest, mail: email },
      to_external: { ...others, mail: sent },
    })
    expect(JSON.stringify(meta.warnings ?? [])).not.toContain('hub')
    const page = succeed(await list('&limit=1'))
    expect(page.data[0].data).toMatchObject({ mail: 'c0@example.com' })
    expect(page.data[0].data).not.toHaveProperty('email')

    const bare = { to_plinth: { external_id: '$.id' } }
    succeed(
      await call('PATCH', `/v1/crm/record-types/${type}`, { sources: [contacts({ field_mapping: bare })] }),
    )
    const unmapped = succeed(await rename('mail', 'address'))
    expect(unmapped.meta.warnings).toContainEqual(
      expect.stringMatching(/still use "mail", which is called "address" now: source "hub"/),
    )
  })

  test('has_more is left out where the source does not say', { tags: 'full' }, async () => {
    const url = `${upstream.url}/contacts?limit={{limit}}&offset={{offset}}`
    const { list } = await newContacts({ list: { url, response_path: '$.results' } })
    expect(succeed(await list('&limit=10&offset=20')).meta).toEqual({ limit: 10, offset: 20 })
    expect(succeed(await list('&limit=10&offset=30')).meta).toEqual({
      limit: 10,
      offset: 30,
      has_more: false,
    })
    expect(expectFault(await list('&include_total=true'), 'query/include_total').code).toBe('not_of_source')
  })

  test('pages are counted from 1, and an offset between them is refused', { tags: 'full' }, async () => {
    upstream.on('/paged', ({ url }, response) => {
      const size = Number(url.searchParams.get('size'))
      const from = (Number(url.searchParams.get('page')) - 1) * size
      json(CONTACTS.slice(from, from + size))({} as Asked, response)
    })
    const { list } = await newContacts({
      list: { url: `${upstream.url}/paged?page={{page}}&size={{limit}}` },
    })
    expect(idsOf(succeed(await list('&limit=10&offset=10')))).toEqual(
      CONTACTS.slice(10, 20).map(({ id }) => id),
    )
    expect(lastAsked().url.search).toBe('?page=2&size=10')
    expect(expectFault(await list('&limit=10&offset=5'), 'query/offset').code).toBe('not_a_page')
  })

  test('a source without pages answers all, and the page is cut from it', async () => {
    upstream.on('/whole', json(CONTACTS))
    const { list } = await newContacts({ list: { url: `${upstream.url}/whole` } })
    const page = succeed(await list('&limit=10&offset=20&include_total=true'))
    expect(idsOf(page)).toEqual(CONTACTS.slice(20).map(({ id }) => id))
    expect(page.meta).toEqual({ limit: 10, offset: 20, total: 25, has_more: false })
  })

  test('one record is read by its id in the source, whatever characters it has', {
    tags: 'full',
  }, async () => {
    const { all } = await newContacts()
    const one = succeed(await call('GET', `${all}/c3?external_source=hub`))
    expect(one).toMatchObject({ id: 'c3', data: { email: 'c3@example.com', stage: 'won' }, version: null })
    upstream.on('/contacts/a%2Fb%20%C3%A4%3F', json({ id: 'x', properties: { email: 'x@example.com' } }))
    const odd = succeed(await call('GET', `${all}/${encodeURIComponent('a/b ä?')}?external_source=hub`))
    expect(odd).toMatchObject({ id: 'a/b ä?', external_id: 'a/b ä?' })
    expectFailure(await call('GET', `${all}/absent?external_source=hub`), 'NOT_FOUND')
    const asked = upstream.asked.length
    const put = { external_source: 'hub', external_id: '..', data: { email: 'a@example.com' } }
    expectFault(await call('PUT', all, put), '/external_id')
    expectFault(await call('GET', `${all}/${encodeURIComponent('a/b')}`), 'path/id')
    expect(upstream.asked).toHaveLength(asked)
  })

  test('what only stored records have is refused, and nothing is asked', { tags: 'full' }, async () => {
    const { all, list } = await newContacts()
    const asked = upstream.asked.length
    const refused = [
      ['filter', '{"field":"id","op":"eq","value":"a"}'],
      ...[
        ['sort', 'id'],
        ['expand', 'x'],
        ['snippets', 'true'],
        ['cursor', 'x'],
      ],
      ['as_of', '2026-01-01T00:00:00Z'],
    ]
    for (const [name, value] of refused)
      expect(expectFault(await list(`&${name}=${value}`), `query/${name}`).code).toBe('not_of_source')
    expectFault(await call('GET', `${all}/c1?external_source=hub&version=1`), 'query/version')
    expectFault(await call('POST', `${all}/query`, { external_source: 'hub', sort: 'id' }), '/sort')
    const unknown = expectFault(await call('GET', `${all}?external_source=hubb`), 'query/external_source')
    expect(unknown).toMatchObject({ code: 'unknown_source', allowed: ['hub'], hint: 'hub' })
    expect(upstream.asked).toHaveLength(asked)
    expect(idsOf(succeed(await call('POST', `${all}/query`, { external_source: 'hub', limit: 1 })))).toEqual([
      'c0',
    ])
  })
})

describe('writes', () => {
  test('a POST creates a record in the source, and nothing is stored', { tags: 'full' }, async () => {
    const { all, type } = await newContacts()
    const data = { email: 'new@example.com', stage: 'won' }
    const made = await call('POST', all, { data, external_source: 'hub' })
    expect(succeed(made, 201)).toMatchObject({
      id: 'new1',
      external_source: 'hub',
      data,
      operation: 'created',
    })
    expect(lastAsked()).toMatchObject({
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: { properties: { email: 'new@example.com', stage: 'closed_won' } },
    })
    expect(succeed(await call('GET', all)).data).toEqual([])
    expect(await world.logOf(type)).toEqual([])
    expectFault(
      await call('POST', all, { data, external_source: 'hub', external_id: 'mine' }),
      '/external_id',
    )
  })

  test('a PUT and a PATCH change it, by the method of the source', { tags: 'full' }, async () => {
    const { all } = await newContacts()
    const put = { data: { email: 'c1@new.example' }, external_source: 'hub' }
    expect(succeed(await call('PUT', `${all}/c1`, put))).toMatchObject({
      ...{ id: 'c1', operation: 'updated', data: { email: 'c1@new.example' } },
    })
    expect(lastAsked()).toMatchObject({ method: 'PATCH', body: { properties: { email: 'c1@new.example' } } })
    succeed(await call('PUT', all, { ...put, external_id: 'c2' }))
    expect(lastAsked().url.pathname).toBe('/contacts/c2')
    succeed(await call('PATCH', `${all}/c3`, { data: { stage: null }, external_source: 'hub' }))
    expect(lastAsked().body).toEqual({ properties: { stage: null } })
    expectFailure(await call('PUT', `${all}/absent`, put), 'NOT_FOUND')
    const whole = await newContacts({ update: { url: `${upstream.url}/contacts/{{external_id}}` } })
    succeed(await call('PUT', `${whole.all}/c1`, put))
    expect(lastAsked().method).toBe('PUT')
    const patched = await call('PATCH', `${whole.all}/c1`, { data: {}, external_source: 'hub' })
    expect(expectFault(patched, '/external_source').code).toBe('not_of_source')
  })

  test('data is checked before it is sent: by the schema, and by the mapping', { tags: 'full' }, async () => {
    const { all } = await newContacts()
    const asked = upstream.asked.length
    const post = (data: object, more: object = {}) =>
      call('POST', all, { data, external_source: 'hub', ...more })
    expectFault(await post({ email: 'no email' }), '/data/email')
    expectFault(await post({ email: 'a@example.com', since: '2026-01-01T00:00:00Z' }), '/data/since')
    const links = [{ rel_type: 'r', record_type: 't', id: 'x' }]
    expectFault(await post({ email: 'a@example.com' }, { relationships: links }), '/relationships')
    const put = { data: { email: 'a@example.com' }, external_source: 'hub' }
    expectFault(await call('PUT', `${all}/c1`, { ...put, expected_version: 1 }), '/expected_version')
    expectFault(await call('PUT', `${all}/c1`, { ...put, external_id: 'c2' }), '/external_id')
    expect(upstream.asked).toHaveLength(asked)
  })

  test('a dry run sends nothing, and answers what would be sent', async () => {
    const { all } = await newContacts()
    const asked = upstream.asked.length
    const data = { email: 'a@example.com' }
    const made = succeed(await call('POST', `${all}?dry_run=true`, { data, external_source: 'hub' }), 201)
    expect(made).toMatchObject({ data, external_id: null, dry_run: true, operation: 'created' })
    succeed(await call('PUT', `${all}/c1?dry_run=true`, { data, external_source: 'hub' }))
    expectFault(
      await call('POST', `${all}?dry_run=true`, { data: {}, external_source: 'hub' }),
      '/data/email',
    )
    expect(upstream.asked).toHaveLength(asked)
  })

  test('an Idempotency-Key is sent to the source once', { tags: 'full' }, async () => {
    const { all } = await newContacts()
    const asked = upstream.asked.length
    const post = () =>
      call(
        'POST',
        all,
        { data: { email: 'k@example.com' }, external_source: 'hub' },
        { 'idempotency-key': `k-${all}` },
      )
    const [one, other] = await Promise.all([post(), post()])
    expect(succeed(one, 201)).toEqual(succeed(other, 201))
    expect(upstream.asked).toHaveLength(asked + 1)
  })

  test('writes of several records cannot name a source', { tags: 'full' }, async () => {
    const { type } = await newContacts()
    const asked = upstream.asked.length
    const operation = {
      ...{ type: 'upsert_record', record_type: type, id: 'x', data: { email: 'a@example.com' } },
      ...{ external_id: 'c1', external_source: 'hub' },
    }
    const batch = await call('POST', '/v1/crm/batch', { operations: [operation] })
    expect(expectFault(batch, '/operations/0/external_source').code).toBe('source_pair')
    const sql = `INSERT INTO "${type}" (external_id, external_source, email) VALUES ('c1', 'hub', 'a@example.com')`
    expectFailure(await call('POST', '/v1/crm/sql/execute', { statements: sql }), 'VALIDATION_ERROR')
    expect(upstream.asked).toHaveLength(asked)
    expect(await world.logOf(type)).toEqual([])
  })

  test('stored records of the type are as always', { tags: 'full' }, async () => {
    const { all } = await newContacts()
    const data = { email: 's@example.com' }
    expect(succeed(await call('PUT', `${all}/s1`, { data }), 201)).toMatchObject({
      version: 1,
      status: 'active',
    })
    succeed(await call('PUT', all, { data, external_id: 'e1', external_source: 'other' }), 201)
    expect(succeed(await call('GET', all)).data).toHaveLength(2)
    expect(succeed(await call('PATCH', `${all}/s1`, { data: { stage: 'won' } }))).toMatchObject({
      version: 2,
    })
  })
})

describe('failures of the source', () => {
  const failing = async (path: string, answer?: Parameters<Upstream['on']>[1]) => {
    if (answer) upstream.on(path, answer)
    const { list, all } = await newContacts({
      ...{ list: { url: `${upstream.url}${path}`, response_path: '$.results' } },
      ...{ get: { url: `${upstream.url}${path}?id={{external_id}}` } },
    })
    return { list, get: () => call('GET', `${all}/c1?external_source=hub`) }
  }
  const expectUpstream = (answer: Answer, code: string) => {
    const error = expectFailure(answer, 'INTERNAL_ERROR')
    expect(error.message).toContain('"hub"')
    expect(error.details[0]).toMatchObject({ code })
    expect(error.details[0]?.message).toContain('"hub"')
    return error.details[0]
  }
  const raw =
    (text: string, status = 200, headers: Record<string, string> = {}): Parameters<Upstream['on']>[1] =>
    (_asked, response) =>
      void response.writeHead(status, headers).end(text)

  test('its statuses are 500s that name it, and a 404 is a 404', { tags: 'full' }, async () => {
    for (const status of [400, 401, 403, 409, 418, 429, 500, 503]) {
      const { list, get } = await failing(`/status/${status}`, raw(`{"why":"${status}"}`, status))
      const detail = expectUpstream(await list(), 'source_refused')
      expect(detail).toMatchObject({ expected: '200 to 299', received: `{"why":"${status}"}` })
      expectUpstream(await get(), 'source_refused')
    }
    const { list, get } = await failing('/absent')
    expect(expectFailure(await get(), 'NOT_FOUND').details[0].code).toBe('record_not_found')
    expect(expectFailure(await list(), 'NOT_FOUND').details[0].code).toBe('source_not_found')
  })

  test('a redirect is not followed', async () => {
    upstream.on('/leads-here', json({ results: [] }))
    const { list } = await failing('/redirects', raw('', 302, { location: `${upstream.url}/leads-here` }))
    expect(expectUpstream(await list(), 'source_refused').message).toMatch(/redirect/)
    expect(lastAsked().url.pathname).toBe('/redirects')
  })

  test('answers of another shape are named, and none is half read', { tags: 'full' }, async () => {
    for (const text of [
      '<html>',
      '',
      '{"results":',
      '{"results":{}}',
      '{"results":[1]}',
      'null',
      '{"results":[{"id":null}]}',
      '{"results":[{"id":"a","since":"soon"}]}',
      '{"results":[{"id":""}]}',
      '{"results":[{"id":1e400}]}',
    ]) {
      const { list } = await failing(`/shape/${encodeURIComponent(text.slice(0, 40))}`, raw(text))
      expectUpstream(await list(), 'source_answer_invalid')
    }
    const deep = `{"results":[${'['.repeat(500)}${']'.repeat(500)}]}`
    expectUpstream(await (await failing('/deep', raw(deep))).list(), 'source_answer_invalid')
    const huge = await failing('/huge', raw(`{"results":[],"pad":"${'x'.repeat(5 * 1024 * 1024)}"}`))
    expect(expectUpstream(await huge.list(), 'source_answer_invalid').expected).toBe(4 * 1024 * 1024)
  })

  test('a connection that breaks is named', { tags: 'full' }, async () => {
    const reset = await failing('/reset', (_asked, response) => void response.destroy())
    expectUpstream(await reset.list(), 'source_unreachable')
    const half = await failing('/half', (_asked, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"results":')
      setTimeout(() => response.destroy(), 20)
    })
    expectUpstream(await half.list(), 'source_unreachable')
  })

  test('a source that hangs is given up after 10 s, and other calls do not wait for it', {
    tags: 'full',
  }, async () => {
    const { list } = await failing('/hangs', () => {})
    const hanging = list()
    const slow = await failing('/slow', (_asked, response) => {
      response.writeHead(200).write('{"results":[')
      const drip = setInterval(() => response.write(' '), 500)
      response.on('close', () => clearInterval(drip))
    })
    const dripping = slow.list()
    succeed(await (await newContacts()).list())
    expect(expectUpstream(await hanging, 'source_unreachable').message).toMatch(/10 s/)
    expectUpstream(await dripping, 'source_unreachable')
  })

  test('a source that echoes its credential does not show it', { tags: 'full' }, async () => {
    upstream.on('/echo', ({ headers }, response) =>
      json({ results: [{ id: 'e1', properties: { email: headers.authorization } }] })({} as Asked, response),
    )
    const { list } = await failing('/echo')
    const shown = succeed(await list())
    expect(shown.data[0].data.email).toBe('Bearer <redacted>')
    const refusing = await failing('/echo-refused', ({ headers }, response) =>
      json({ error: `bad key ${headers.authorization}` }, 401)({} as Asked, response),
    )
    expect(expectUpstream(await refusing.list(), 'source_refused').received).toContain('<redacted>')
  })
})

test('a GraphQL request keeps a bounded amount of what sources answer', { tags: 'full' }, async () => {
  upstream.on('/wide', json([{ id: 'w', text: 'x'.repeat(1_500_000) }]))
  const { type } = await newContacts({
    list: { url: `${upstream.url}/wide` },
    field_mapping: { to_plinth: { external_id: '$.id' } },
  })
  const read = (n: number) =>
    `a${n}: sourceRecords(base: "crm", recordType: "${type}", source: "hub") { data { id } }`
  const ask = async (times: number) =>
    (
      await call('POST', '/graphql', {
        query: `{ ${Array.from({ length: times }, (_, n) => read(n)).join(' ')} }`,
      })
    ).body
  expect((await ask(2)).data).toEqual({ a0: { data: [{ id: 'w' }] }, a1: { data: [{ id: 'w' }] } })
  const { errors } = await ask(6)
  expect(errors[0].extensions).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ code: 'too_large' }] })
})

describe('definitions', () => {
  const put = (sources: unknown[], as = call) => as('PUT', '/v1/crm/record-types/defined', { sources })
  const faultOf = async (source: object, path: string) =>
    expectFault(await put([contacts(source)]), `/sources/0${path}`).code

  test('faults name the field of the source', { tags: 'full' }, async () => {
    const url = `${upstream.url}/contacts`
    expect(await faultOf({ get: { url: 'http://169.254.169.254/{{external_id}}' } }, '/get/url')).toBe(
      'blocked_address',
    )
    expect(await faultOf({ get: { url: 'http://{{external_id}}.example.com/' } }, '/get/url')).toBe(
      'invalid_url',
    )
    expect(await faultOf({ get: { url } }, '/get/url')).toBe('required')
    expect(await faultOf({ get: { url: `${url}/{{external_di}}` } }, '/get/url')).toBe('unknown_template')
    expect(await faultOf({ get: { url: `${url}/{{external_id}}?key={{secret:CRM_KEY}}` } }, '/get/url')).toBe(
      'secret_in_url',
    )
    expect(await faultOf({ list: { url: `${url}?page={{page}}` } }, '/list/url')).toBe('required')
    expect(await faultOf({ list: { url: `${url}?{{limit}}{{page}}{{offset}}` } }, '/list/url')).toBe(
      'exclusive',
    )
    expect(await faultOf({ list: { url, response_path: 'results' } }, '/list/response_path')).toBe(
      'invalid_json_path',
    )
    expect(await faultOf({ name: 'default' }, '/name')).toBe('reserved_name')
    expect(await faultOf({ name: 'a b' }, '/name')).toBe('custom')
    const auth = (value_template: string, header = 'Authorization') => ({ auth: { header, value_template } })
    expect(await faultOf(auth('Bearer abc'), '/auth/value_template')).toBe('secret_required')
    expect(await faultOf(auth('Bearer {{ secret:CRM_KEY }}'), '/auth/value_template')).toBe(
      'malformed_secret',
    )
    expect(await faultOf(auth('a\r\nb: {{secret:CRM_KEY}}'), '/auth/value_template')).toBe('invalid_format')
    expect(await faultOf(auth('{{secret:NOT_THERE}}'), '/auth/value_template')).toBe('unknown_secret')
    expect(await faultOf(auth('{{secret:CRM_KEY}}', 'Host'), '/auth/header')).toBe('reserved_header')
    const mapped = (to_plinth: object, to_external: object = {}) => ({
      field_mapping: { to_plinth, to_external },
    })
    expect(await faultOf(mapped({}), '/field_mapping/to_plinth/external_id')).toBe('required')
    expect(
      await faultOf(mapped({ external_id: { path: '$.id' } }), '/field_mapping/to_plinth/external_id'),
    ).toBe('type')
    expect(await faultOf(mapped({ external_id: '$.id', a: '$[' }), '/field_mapping/to_plinth/a')).toBe(
      'invalid_json_path',
    )
    expect(
      await faultOf(mapped({ external_id: '$.id' }, { a: '$..x' }), '/field_mapping/to_external/a'),
    ).toBe('invalid_json_path')
    expectFault(await put([contacts(), contacts()]), '/sources/1/name')
    expectFault(await put([{ name: 'x' }]), '/sources/0')
    expectFault(await put([contacts({ remove: {} })]), '/sources/0/remove')
    expectFailure(await call('GET', '/v1/crm/record-types/defined'), 'NOT_FOUND')
  })

  test.each([
    'https:{{external_id}}/',
    'https:/{{external_id}}',
    'https:\\\\{{external_id}}/',
    'https://a{{external_id}}:80/',
  ])('the host of %j is not for the caller to choose', async (url) => {
    expect(await faultOf({ get: { url } }, '/get/url')).toBe('invalid_url')
  })

  test('it has history, config files, and a patch; none of them shows a secret', {
    tags: 'full',
  }, async () => {
    const { type } = await newContacts()
    const one = `/v1/crm/record-types/${type}`
    const { sources } = succeed(await call('GET', one))
    expect(sources).toEqual([contacts()])
    succeed(await call('PATCH', one, { sources: [] }))
    expect(succeed(await call('GET', `${one}?version=1`)).sources).toEqual(sources)
    succeed(await call('GET', `${one}/history`))
    succeed(await call('PATCH', one, { name: 'Contacts', sources }))
    const pulled = await call('GET', '/v1/crm/config')
    expect(pulled.text).toContain('{{secret:CRM_KEY}}')
    expect(succeed(await call('POST', '/v1/crm/config/diff', pulled.body)).changes).toEqual([])
    succeed(await call('GET', '/v1/crm/changes?limit=1000'))
  })

  test('a source that exists cannot be there twice', { tags: 'full' }, async () => {
    const { type } = await newContacts()
    const twice = { sources: [contacts(), contacts()] }
    for (const method of ['PUT', 'PATCH'])
      expectFault(await call(method, `/v1/crm/record-types/${type}`, twice), '/sources/1/name')
  })

  test('only who manages the whole base can say where its secrets go', { tags: 'full' }, async () => {
    const { type } = await newContacts()
    const { call: limited } = await world.newToken([{ record_type: type, permission: 'manage' }])
    const one = `/v1/crm/record-types/${type}`
    succeed(await limited('PATCH', one, { name: 'Renamed' }))
    const stolen = [contacts({ list: { url: `${upstream.url}/mine?{{limit}}` } })]
    expectFailure(await limited('PATCH', one, { sources: stolen }), 'FORBIDDEN')
    succeed(await limited('PATCH', one, { sources: [] }))
  })

  test('a reader reads, and does not write; others see nothing', { tags: 'full' }, async () => {
    const { type, all } = await newContacts()
    const { call: reader } = await world.newToken([{ record_type: type, permission: 'read' }])
    const { call: other } = await world.newToken([{ record_type: 'another', permission: 'write' }])
    succeed(await reader('GET', `${all}/c1?external_source=hub`))
    const asked = upstream.asked.length
    const post = { data: { email: 'a@example.com' }, external_source: 'hub' }
    expectFailure(await reader('POST', all, post), 'FORBIDDEN')
    for (const path of [all, `${all}/c1`])
      expectFailure(await other('GET', `${path}?external_source=hub`), 'FORBIDDEN')
    expectFailure(await other('POST', all, post), 'FORBIDDEN')
    expect(upstream.asked).toHaveLength(asked)
  })

  test('a secret that is gone, or not open to the base, is named and nothing is sent', {
    tags: 'full',
  }, async () => {
    succeed(await call('PUT', '/v1/vault/secrets/BRIEF', { value: 'brief-value', bases: ['crm'] }), 201)
    const auth = { header: 'X-Key', value_template: '{{secret:BRIEF}}' }
    const { list } = await newContacts({ auth })
    succeed(await list())
    succeed(await call('DELETE', '/v1/vault/secrets/BRIEF'))
    const asked = upstream.asked.length
    expect(expectFailure(await list(), 'VALIDATION_ERROR').details[0]).toMatchObject({
      code: 'unknown_secret',
    })
    expect(upstream.asked).toHaveLength(asked)
  })

  test('a preview reads with secrets of its own, and does not write to the urls of production', {
    tags: 'full',
  }, async () => {
    const { type } = await newContacts()
    succeed(await call('POST', '/v1/crm/preview', { name: 'p', copy: 'config' }), 201)
    const all = `/v1/crm--p/records/${type}`
    expectFailure(await call('GET', `${all}?external_source=hub`), 'VALIDATION_ERROR')
    succeed(await call('PUT', '/v1/vault/secrets/CRM_KEY', { value: SECRET, bases: ['crm', 'crm--p'] }))
    succeed(await call('GET', `${all}?external_source=hub`))
    const asked = upstream.asked.length
    const post = { data: { email: 'a@example.com' }, external_source: 'hub' }
    const held = expectFailure(await call('POST', all, post), 'CONFLICT')
    expect(held.details[0]).toMatchObject({ code: 'url_of_production' })
    expectFailure(await call('PUT', `${all}/c1`, post), 'CONFLICT')
    expect(upstream.asked).toHaveLength(asked)
    const one = `/v1/crm--p/record-types/${type}`
    upstream.on('/sandbox', json({ id: 'sandboxed' }))
    succeed(await call('PATCH', one, { sources: [contacts({ create: { url: `${upstream.url}/sandbox` } })] }))
    expect(succeed(await call('POST', all, post), 201).id).toBe('sandboxed')
    succeed(await call('POST', '/v1/crm/promote', { from: 'crm--p' }))
    expect(succeed(await call('GET', `/v1/crm/record-types/${type}`)).sources[0].create.url).toMatch(
      /sandbox$/,
    )
  })
})

test('no answer and no log has had the secret', async () => {
  const forms = [SECRET, JSON.stringify(SECRET).slice(1, -1), encodeURIComponent(SECRET)]
  const logged = await world.database.query<{ text: string }>('SELECT data::text AS text FROM plinth.change')
  for (const text of [...answers, ...logged.map((row) => row.text), ...world.log])
    for (const form of forms) expect(text?.includes(form)).toBe(false)
})
