import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { camelFields } from '../../../src/contract/field-names.ts'
import { KINDS } from '../../../src/engine/configuration/kinds.ts'
import { type Code, expectFailure, expectFault, succeed, TIME } from '../../support/answers.ts'
import { homeOf, KIND_SAMPLES, putReferences } from '../../support/kinds.ts'
import type { Answer, Body } from '../../support/server.ts'
import { openWorld, patchJson, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/bases/other', {}), 201)
  await putReferences(world.call, 'crm')
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'dev' }), 201)
})
afterAll(() => world.close())

test('every kind of configuration has a sample, and every sample a kind', () => {
  expect(Object.keys(KIND_SAMPLES).sort()).toEqual(KINDS.map(({ name }) => name).sort())
})

test('a kind is listed after the kinds that it references', () => {
  for (const [at, { name, references }] of KINDS.entries())
    for (const { kind } of references?.(camelFields(KIND_SAMPLES[name]?.body ?? {})) ?? [])
      expect(KINDS.slice(0, at).map((before) => before.name)).toContain(kind.name)
})

/** The same value with the keys of each object in reverse order. */
const reversed = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(reversed)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .reverse()
            .map(([key, member]) => [key, reversed(member)]),
        )
      : value

const reasonOf = (answer: Answer, code: Code) => expectFailure(answer, code).details[0].code

describe.each(Object.entries(KIND_SAMPLES))('a %s', (kind, { noun, body, defaults, least = {} }) => {
  const base = homeOf(noun, 'crm', 'crm--dev')
  const path = `/v1/${base}/${noun}/One.1`
  const put = (sent: object, headers = {}) => world.call('PUT', path, sent, headers)

  test('is created, read, replaced, listed and deleted, and each write logs a change', {
    tags: 'full',
  }, async () => {
    const made = await put({ ...body, id: 'One.1' })
    expect(succeed(made, 201)).toMatchObject({
      id: 'One.1',
      ...body,
      version: 1,
      updated_at: made.body.created_at,
    })
    expect(made.body.created_at).toMatch(TIME)
    expect(made.headers.get('location')).toBe(path)
    expect(made.headers.get('etag')).toBe('"1"')
    const { secret, ...shown } = made.body
    const hidden = { ...shown, ...(secret !== undefined && { secret: '<redacted>' }) }
    expect(succeed(await world.call('GET', path))).toEqual(hidden)
    expect(succeed(await put(body)), 'unchanged').toEqual(hidden)
    expect(succeed(await put(reversed(body) as Body)), 'unchanged').toEqual(hidden)
    // The warnings in `meta` are not part of the resource.
    const { meta: _meta, ...cleared } = succeed(await put(least))
    expect(cleared).toMatchObject({
      name: 'One.1',
      ...defaults,
      version: 2,
      created_at: made.body.created_at,
    })
    const { data, meta } = succeed(await world.call('GET', `/v1/${base}/${noun}?limit=1&include_total=true`))
    expect(data).toEqual([cleared])
    expect(meta.total).toBeGreaterThan(0)
    expect(succeed(await world.call('DELETE', path))).toEqual({ id: 'One.1', deleted: true })
    expect(reasonOf(await world.call('DELETE', path), 'NOT_FOUND')).toBe(`${kind}_not_found`)
    expectFailure(await world.call('GET', path), 'NOT_FOUND')
    const log = succeed(await world.call('GET', `/v1/${base}/changes?kind=${kind}&id=One.1`))
    expect(log.data.map((entry: Body) => `${entry.operation} ${entry.version}`)).toEqual([
      'create 1',
      'update 2',
      'delete 3',
    ])
    expect(log.data[0].diff[0].value).toMatchObject(body)
  })

  test('is not written when a precondition fails, or by a dry run', { tags: 'full' }, async () => {
    const missing = await put(body, { 'if-match': '*' })
    expectFailure(missing, 'NOT_FOUND')
    expect(succeed(await world.call('PUT', `${path}?dry_run=true`, body), 201)).toMatchObject({
      dry_run: true,
    })
    expectFailure(await world.call('GET', path), 'NOT_FOUND')
    const { version } = succeed(await put(body, { 'if-none-match': '*' }), 201)
    expect(reasonOf(await put(least, { 'if-none-match': '*' }), 'CONFLICT')).toBe('exists')
    expect(reasonOf(await put(least, { 'if-match': '"9"' }), 'CONFLICT')).toBe('version_mismatch')
    const stale = await world.call('DELETE', path, undefined, { 'if-match': '"9"' })
    expect(reasonOf(stale, 'CONFLICT')).toBe('version_mismatch')
    succeed(await world.call('DELETE', `${path}?dry_run=true`))
    succeed(await world.call('DELETE', path, undefined, { 'if-match': `"${version}"` }))
  })

  test('is refused with an unknown field, another id than the path, or a value of another type', async () => {
    expect(expectFault(await put({ ...body, nmae: 'x' }), '/nmae').hint).toBe('name')
    expect(expectFault(await put({ ...body, id: 'two' }), '/id').code).toBe('disagrees')
    // The output of an action is any JSON.
    for (const field of Object.keys(body).filter((name) => name !== 'output'))
      expectFailure(await put({ ...body, [field]: [7] }), 'VALIDATION_ERROR')
    expectFailure(await world.call('PUT', `/v1/${base}/${noun}/-x`, body), 'VALIDATION_ERROR')
  })

  test('can be read at each version, and versions continue after a deletion', { tags: 'full' }, async () => {
    const one = `/v1/${base}/${noun}/Two`
    const made = succeed(await world.call('PUT', one, body), 201)
    succeed(await world.call('PUT', one, least))
    succeed(await world.call('DELETE', one))
    expect(succeed(await world.call('PUT', one, body), 201).version).toBe(4)
    const first = await world.call('GET', `${one}?version=1`)
    expect(first.headers.get('etag')).toBe('"1"')
    expect(succeed(first)).toMatchObject({ id: 'Two', ...body, version: 1, created_at: made.created_at })
    expect(succeed(await world.call('GET', `${one}?version=2`))).toMatchObject({ ...defaults, version: 2 })
    const gone = expectFailure(await world.call('GET', `${one}?version=3`), 'NOT_FOUND').details[0]
    expect(gone).toMatchObject({ path: 'query/version', code: 'version_deleted', hint: '2' })
    expect(reasonOf(await world.call('GET', `${one}?version=9`), 'NOT_FOUND')).toBe('version_not_found')
    expectFault(await world.call('GET', `${one}?version=0`), 'query/version')
    const { data, meta } = succeed(await world.call('GET', `${one}/history?limit=2&include_total=true`))
    expect(meta).toMatchObject({ total: 4, has_more: true })
    expect(data.map((each: Body) => `${each.operation} ${each.version}`)).toEqual(['create 4', 'delete 3'])
    const rest = succeed(
      await world.call('GET', `${one}/history?cursor=${encodeURIComponent(meta.next_cursor)}`),
    )
    expect(rest.data.map((each: Body) => `${each.operation} ${each.version}`)).toEqual([
      'update 2',
      'create 1',
    ])
    expect(rest.data[0].diff).toContainEqual({ op: 'replace', path: '/name', value: 'Two' })
    expect(rest.data[1]).toMatchObject({ actor: { via: 'rest' }, diff: [{ op: 'add', path: '' }] })
    succeed(await world.call('DELETE', one))
    expect(succeed(await world.call('GET', `${one}/history`)).data).toHaveLength(5)
    expect(reasonOf(await world.call('GET', `/v1/${base}/${noun}/never/history`), 'NOT_FOUND')).toBe(
      `${kind}_not_found`,
    )
  })

  test('is changed by a merge patch in either media type and by a JSON Patch, and replaced by PUT', {
    tags: 'full',
  }, async () => {
    const one = `/v1/${base}/${noun}/Four`
    succeed(await world.call('PUT', one, body), 201)
    const types = ['application/json', 'application/merge-patch+json']
    for (const [i, type] of types.entries()) {
      const merged = await world.call('PATCH', one, { name: type }, { 'content-type': type })
      expect(succeed(merged), type).toMatchObject({ ...body, name: type, version: i + 2 })
    }
    expect(succeed(await world.call('PATCH', one, { name: null }))).toMatchObject({
      ...{ ...body, name: 'Four', version: 4 },
    })
    const operations = [{ op: 'replace', path: '/name', value: 'Five' }]
    const operated = await patchJson(world.call, one, operations)
    expect(succeed(operated)).toMatchObject({ name: 'Five', version: 5 })
    const stale = await world.call('PATCH', one, { name: 'x' }, { 'if-match': '"4"' })
    expect(reasonOf(stale, 'CONFLICT')).toBe('version_mismatch')
    expectFault(await world.call('PATCH', one, { nmae: 'x' }), '/nmae')
    expectFailure(await world.call('PATCH', `${one}.absent`, { name: 'x' }), 'NOT_FOUND')
    const { call } = await world.newToken([{ permission: 'write' }])
    expectFailure(await call('PATCH', one, { name: 'x' }), 'FORBIDDEN')
    const name = kind.replace(/(?:^|_)[a-z]/g, (part) => part.replace('_', '').toUpperCase())
    const query = `mutation { patch${name}(base: "${base}", id: "Four", input: { name: "G" }) { name version } }`
    const { data } = succeed(await world.call('POST', '/graphql', { query }))
    expect(data[`patch${name}`]).toEqual({ name: 'G', version: 6 })
    succeed(await world.call('DELETE', one))
  })

  test('has its former content after a change is reverted', { tags: 'full' }, async () => {
    const one = `/v1/${base}/${noun}/Three`
    const revert = async (version: number, query = '') => {
      const { data } = succeed(await world.call('GET', `${one}/history`))
      const { seq } = data.find((each: Body) => each.version === version)
      return world.call('POST', `/v1/${base}/changes/${seq}/revert${query}`)
    }
    succeed(await world.call('PUT', one, body), 201)
    succeed(await world.call('PUT', one, least))
    expect(reasonOf(await revert(1), 'CONFLICT')).toBe('overtaken')
    expect(succeed(await revert(2, '?dry_run=true'))).toMatchObject({ version: 3, dry_run: true })
    const inverse = succeed(await revert(2))
    expect(inverse).toMatchObject({ kind, id: 'Three', operation: 'update', version: 3 })
    expect(inverse.cause).toBeTypeOf('string')
    expect(succeed(await world.call('GET', one))).toMatchObject({ ...body, version: 3 })
    expect(reasonOf(await revert(2, '?force=true'), 'CONFLICT')).toBe('nothing_to_revert')
    succeed(await world.call('DELETE', one))
    expect(succeed(await revert(4))).toMatchObject({ operation: 'create', version: 5 })
    expect(succeed(await world.call('GET', one))).toMatchObject({ ...body, version: 5 })
    const reader = await world.newToken([{ permission: 'read' }])
    const { data } = succeed(await world.call('GET', `${one}/history`))
    expectFailure(await reader.call('POST', `/v1/${base}/changes/${data[0].seq}/revert`), 'FORBIDDEN')
    expect(succeed(await revert(5))).toMatchObject({ operation: 'delete', version: 6 })
    expectFailure(await world.call('GET', one), 'NOT_FOUND')
  })

  test('is 403 for tokens without the permission', async () => {
    const reader = await world.newToken([{ permission: 'read' }])
    const other = await world.newToken([{ base: 'other', permission: 'admin' }])
    expectFailure(await reader.call('PUT', path, body), 'FORBIDDEN')
    expectFailure(await reader.call('DELETE', path), 'FORBIDDEN')
    succeed(await reader.call('GET', `/v1/${base}/${noun}`))
    for (const [method, at] of [
      ['GET', path],
      ['PUT', path],
      ['DELETE', path],
      ['GET', `/v1/${base}/${noun}`],
      ['GET', `${path}/history`],
    ] as const)
      expectFailure(await other.call(method, at, method === 'PUT' ? body : undefined), 'FORBIDDEN')
  })
})
