import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operation } from '../../../src/rest/openapi/operation.ts'
import { ROUTES } from '../../../src/rest/plugin.ts'
import { succeed } from '../../support/answers.ts'
import { sampleOf } from '../../support/cases.ts'
import { type FilledBase, fillBase, routeSamples, routeValues } from '../../support/route-samples.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let filled: FilledBase
beforeAll(async () => {
  world = await openWorld()
  filled = await fillBase(world, 'crm', 'note')
  succeed(await world.call('PUT', '/v1/vault/secrets/desk', { value: 'v' }), 201)
})
afterAll(() => world.close())

const SAMPLES = routeSamples('crm')

/** Repeated here on purpose: the table of aliases in the source is under test. */
const NOUNS: Record<string, string[]> = {
  bases: ['bases', 'workspaces', 'databases'],
  'record-types': ['record-types', 'collections'],
  records: ['records', 'documents'],
}

/** All aliases of the path with its parameters filled in; the canonical path is the first. */
function spellings(pattern: string): string[] {
  const values = routeValues(pattern, filled)
  const choices = pattern.split('/').map((segment) => NOUNS[segment] ?? [segment])
  const paths = choices.reduce<string[][]>(
    (all, names) => all.flatMap((path) => names.map((name) => [...path, name])),
    [[]],
  )
  return paths.map(
    (path) =>
      `/v1${path
        .join('/')
        .replace('*', 'a.txt')
        .replaceAll(/:([a-z_]+)/g, (_, name: string) => values[name] ?? '')}`,
  )
}

/** The answer with generated ids and times replaced by placeholders. */
async function normalized(method: string, path: string, body: unknown) {
  const answer = await world.call(method, path, body, { 'x-request-id': 'alike' })
  const still = (text: string | null) =>
    text
      ?.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/g, '<id>')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>') ?? null
  const { headers } = answer
  return {
    status: answer.status,
    text: still(answer.text),
    etag: headers.get('etag'),
    location: still(headers.get('location')),
    type: headers.get('content-type'),
  }
}

test('every route has a sample request, and every sample has a route', () => {
  expect(Object.keys(SAMPLES).sort()).toEqual(ROUTES.map((row) => row.id).sort())
})

describe.each(sampleOf(ROUTES.map((row) => [row.id, row] as const)))('%s', { tags: 'sampled' }, (id, row) => {
  const sample = SAMPLES[id] ?? {}
  // Writes are dry runs, so that each alias finds the same state.
  const query = [sample.query, row.writes && 'dry_run=true'].filter(Boolean).join('&')

  test('answers the same under every alias of its path', async () => {
    const [canonical = '', ...others] = spellings(row.path)
    const first = await normalized(row.method, `${canonical}?${query}`, sample.body)
    expect(first.status, first.text ?? '').toBe(sample.status ?? 200)
    if (first.location)
      expect(first.location).toMatch(
        /^\/v1\/(bases|tokens|vault\/secrets|crm\/(records|record-types|relationships|relationship-types|s3-credentials))\//,
      )
    const described = operation(row, {})['responses'] as Record<number, { headers?: object }>
    const names = Object.keys(described[first.status]?.headers ?? {})
    if (first.etag) expect(names).toContain('ETag')
    if (first.location) expect(names).toContain('Location')
    for (const path of others)
      expect(await normalized(row.method, `${path}?${query}`, sample.body), path).toEqual(first)
  })

  test('fails the same under every alias of its path', async () => {
    const [canonical = '', ...others] = spellings(row.path)
    const first = await normalized(row.method, `${canonical}?nope=1`, sample.body)
    expect(first.status).toBe(400)
    expect(first.text).toContain('query/nope')
    const described = operation(row, {})['responses'] as Record<number, { headers?: object }>
    const names = Object.keys(described[first.status]?.headers ?? {})
    const isWhole = first.type?.startsWith('application/json') && first.status < 300
    if (isWhole) {
      expect(names.includes('ETag'), 'ETag').toBe(first.etag !== null)
      expect(names.includes('Location'), 'Location').toBe(first.location !== null)
    }
    for (const path of others)
      expect(await normalized(row.method, `${path}?nope=1`, sample.body), path).toEqual(first)
  })
})

test('an id that equals an alias is read as an id', async () => {
  for (const [path, id] of [
    ['/v1/crm/records/collections/documents', 'documents'],
    ['/v1/crm/documents/collections/documents', 'documents'],
    ['/v1/crm/records/task/records', 'records'],
    ['/v1/crm/record-types/collections', 'collections'],
    ['/v1/crm/collections/collections', 'collections'],
  ] as const)
    expect(succeed(await world.call('GET', path)).id, path).toBe(id)
  expect((await world.call('GET', '/v1/crm/records/record-types/documents')).status).toBe(404)
  expect((await world.call('GET', '/v1/crm/records/documents/records')).status).toBe(404)
})

test('a base, a type and a record can have the name of an alias', async () => {
  succeed(await world.call('PUT', '/v1/bases/collections', {}), 201)
  succeed(await world.call('PUT', '/v1/collections/collections/collections', {}), 201)
  succeed(await world.call('PUT', '/v1/collections/documents/collections/records', { data: {} }), 201)
  const record = await world.call('GET', '/v1/collections/records/collections/records')
  expect(succeed(record)).toMatchObject({ id: 'records', record_type: 'collections' })
})

test('an idempotency key used under one alias is replayed under another', async () => {
  const key = { 'idempotency-key': 'one-request' }
  const made = await world.call('POST', '/v1/crm/documents/task', { data: {} }, key)
  const again = await world.call('POST', '/v1/crm/records/task', { data: {} }, key)
  expect([made.status, again.status, again.text]).toEqual([201, 201, made.text])
  expect(again.headers.get('idempotency-replayed')).toBe('true')
})
