import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, sleep, succeed, TIME } from '../../support/answers.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let type: string
let at: string
beforeAll(async () => {
  world = await openWorld()
  type = await world.newType()
  at = `/v1/crm/records/${type}`
})
afterAll(() => world.close())

const put = (id: string, body: object = {}) => world.call('PUT', `${at}/${id}`, { data: { n: 1 }, ...body })
const act = (id: string, name: 'cancel' | 'restore') => world.call('POST', `${at}/${id}/${name}`)

describe('POST …/cancel', () => {
  test('sets the status to cancelled once; a second cancel changes nothing', async () => {
    const made = succeed(await put('c1'), 201)
    await sleep(3)
    const answer = await act('c1', 'cancel')
    const cancelled = succeed(answer)
    expect(cancelled).toMatchObject({ id: 'c1', status: 'cancelled', data: { n: 1 }, version: 2 })
    expect(cancelled.cancelled_at).toMatch(TIME)
    expect(cancelled.updated_at > made.updated_at).toBe(true)
    expect(answer.headers.get('etag')).toBe('"2"')
    expect(succeed(await act('c1', 'cancel'))).toEqual(cancelled)
    expect((await world.logOf(type, 'c1')).map((row) => row.operation)).toEqual(['create', 'cancel'])
  })

  test('leaves the record readable, listed, filterable and writable', async () => {
    succeed(await put('c2'), 201)
    const { cancelled_at } = succeed(await act('c2', 'cancel'))
    expect(succeed(await world.call('GET', `${at}/c2`)).status).toBe('cancelled')
    const filter = encodeURIComponent('{"field":"status","op":"eq","value":"cancelled"}')
    const { data } = succeed(await world.call('GET', `${at}?filter=${filter}`))
    expect(data.map((record: Body) => record.id)).toContain('c2')
    expect(succeed(await put('c2', { data: { n: 2 } }))).toMatchObject({
      status: 'cancelled',
      cancelled_at,
      operation: 'updated',
      version: 3,
    })
    const patched = succeed(await world.call('PATCH', `${at}/c2`, { data: { n: 3 } }))
    expect(patched).toMatchObject({ status: 'cancelled', version: 4 })
  })

  test('of an absent record is 404, and unknown properties of the body are refused', async () => {
    expectFailure(await act('absent', 'cancel'), 'NOT_FOUND')
    succeed(await put('c3'), 201)
    expectFault(await world.call('POST', `${at}/c3/cancel`, { reason: 'x' }), '/reason')
    expect(succeed(await world.call('GET', `${at}/c3`)).status).toBe('active')
    succeed(await world.call('POST', `${at}/c3/cancel`, {}))
  })
})

describe('POST …/restore', () => {
  test('undoes a cancel, and changes nothing for an active record', async () => {
    succeed(await put('r1'), 201)
    expect(succeed(await act('r1', 'restore'))).toMatchObject({ status: 'active', version: 1 })
    succeed(await act('r1', 'cancel'))
    const restored = succeed(await act('r1', 'restore'))
    expect(restored).toMatchObject({ status: 'active', cancelled_at: null, version: 3, data: { n: 1 } })
    expect(succeed(await act('r1', 'restore'))).toEqual(restored)
    const operations = (await world.logOf(type, 'r1')).map((row) => row.operation)
    expect(operations).toEqual(['create', 'cancel', 'restore'])
  })

  test('of an id that never existed is 404', async () => {
    expectFailure(await act('never', 'restore'), 'NOT_FOUND')
  })
})

describe('DELETE of a record', () => {
  test('removes the record from every read, and a second delete is 404', async () => {
    succeed(await put('d1'), 201)
    expect(succeed(await world.call('DELETE', `${at}/d1`))).toEqual({ id: 'd1', deleted: true })
    expectFailure(await world.call('GET', `${at}/d1`), 'NOT_FOUND')
    expectFailure(await world.call('DELETE', `${at}/d1`), 'NOT_FOUND')
    expectFailure(await act('d1', 'cancel'), 'NOT_FOUND')
    expectFailure(await world.call('PATCH', `${at}/d1`, { data: {} }), 'NOT_FOUND')
    const { data } = succeed(await world.call('GET', `${at}?limit=1000`))
    expect(data.map((record: Body) => record.id)).not.toContain('d1')
  })

  test('refuses a body', async () => {
    succeed(await put('d2'), 201)
    expectFailure(await world.call('DELETE', `${at}/d2`, { confirm: true }), 'VALIDATION_ERROR')
    succeed(await world.call('GET', `${at}/d2`))
  })

  test('frees the id and the external id at once, and a new record of the id continues its version numbers', async () => {
    const pair = { external_id: 'freed', external_source: 's' }
    succeed(await put('d3', pair), 201)
    succeed(await put('d3', { data: { n: 2 } }))
    succeed(await world.call('DELETE', `${at}/d3`))
    expect(succeed(await put('d4', pair), 201)).toMatchObject({ id: 'd4', version: 1 })
    const anew = succeed(await put('d3'), 201)
    expect(anew).toMatchObject({ version: 4, external_id: null, operation: 'created' })
    expectFailure(await world.call('PUT', `${at}/d3`, { data: {} }, { 'if-match': '"2"' }), 'CONFLICT')
    succeed(await world.call('DELETE', `${at}/d3`))
    expect(succeed(await world.call('POST', at, { id: 'd3', data: {} }), 201).version).toBe(6)
    expect((await world.logOf(type, 'd3')).map((row) => [row.operation, row.version])).toEqual([
      ['create', 1],
      ['update', 2],
      ['delete', 3],
      ['create', 4],
      ['delete', 5],
      ['create', 6],
    ])
  })

  test('that is cancelled clears the status: a new record of the id is active', async () => {
    succeed(await put('d5'), 201)
    succeed(await act('d5', 'cancel'))
    succeed(await world.call('DELETE', `${at}/d5`))
    expect(succeed(await put('d5'), 201)).toMatchObject({ status: 'active', cancelled_at: null, version: 4 })
  })
})
