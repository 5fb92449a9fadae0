// @module-tag full
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed } from '../../support/answers.ts'
import type { Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const at = (type: string, id: string) => `/v1/crm/records/${type}/${id}`
const put = async (type: string, id: string, body: object) => {
  const answer = await world.call('PUT', at(type, id), body)
  expect(answer.status, answer.text).toBeLessThan(300)
}
const read = async (type: string, id: string) => succeed(await world.call('GET', at(type, id)))
/** The seq of each version of a record, in order. */
const seqs = async (type: string, id: string): Promise<number[]> =>
  (await world.logOf(type, id)).map((row) => Number(row.seq))
const revert = (seq: number | undefined, query = '', call: Call = world.call) =>
  call('POST', `/v1/crm/changes/${seq}/revert${query}`)

describe('Reverting a change of a record', () => {
  test('writes the previous state as a new change whose cause is the reverted one', async () => {
    const type = await world.newType()
    const { id: tokenId, call } = await world.newToken([{ permission: 'write' }], { name: 'reverter' })
    for (const n of [1, 2]) await put(type, 'a', { data: { n, kept: 'x' } })
    const [, second] = await seqs(type, 'a')
    const inverse = succeed(await revert(second, '', call))
    expect(inverse).toMatchObject({
      kind: 'record',
      record_type: type,
      id: 'a',
      operation: 'update',
      version: 3,
      cause: String(second),
      actor: { token_id: tokenId, name: 'reverter', kind: 'program', via: 'rest' },
      diff: [{ op: 'replace', path: '/data/n', value: 1 }],
    })
    expect(await read(type, 'a')).toMatchObject({ data: { n: 1, kept: 'x' }, version: 3 })
    const { data } = succeed(await world.call('GET', `${at(type, 'a')}/history`))
    expect(data.map(({ seq, cause }: Body) => [seq, cause])[0]).toEqual([inverse.seq, String(second)])
    await put(type, 'a', { data: { n: 9 } })
    expect((await world.logOf(type, 'a')).map((row) => (row as Body).cause)).toEqual([
      null,
      null,
      String(second),
      null,
    ])
  })

  test('inverts every operation, and reverting the revert restores the change', async () => {
    const type = await world.newType()
    const cases: [string, () => Promise<unknown>, string][] = [
      ['create', () => put(type, 'a', { data: { n: 1 } }), 'delete'],
      ['update', () => put(type, 'a', { data: { n: 2 }, external_id: 'e' }), 'update'],
      ['cancel', () => world.call('POST', `${at(type, 'a')}/cancel`), 'restore'],
      ['restore', () => world.call('POST', `${at(type, 'a')}/restore`), 'cancel'],
      ['delete', () => world.call('DELETE', at(type, 'a')), 'restore'],
      ['restore', () => world.call('POST', `${at(type, 'a')}/restore`), 'delete'],
    ]
    const state = async () => {
      const { status, body } = await world.call('GET', at(type, 'a'))
      const { data, external_id, cancelled_at, created_at } = body
      return status === 404 ? null : { data, external_id, isCancelled: cancelled_at !== null, created_at }
    }
    for (const [operation, write, inverse] of cases) {
      const before = await state()
      await write()
      const after = await state()
      const done = (await world.logOf(type, 'a')).at(-1)
      expect(done?.operation).toBe(operation)
      const undone = succeed(await revert(Number(done?.seq)))
      expect(undone.operation, operation).toBe(inverse)
      expect(await state(), operation).toEqual(before)
      succeed(await revert(undone.seq))
      expect(await state(), operation).toEqual(after)
    }
    const log = await world.logOf(type, 'a')
    expect(log.map((row) => row.version)).toEqual(log.map((_, i) => i + 1))
  })

  test('is a conflict if later changes exist, unless force=true', async () => {
    const type = await world.newType()
    for (const n of [1, 2, 3]) await put(type, 'a', { data: { n } })
    const [first, second, third] = await seqs(type, 'a')
    const error = expectFailure(await revert(second), 'CONFLICT')
    expect(error.details[0]).toMatchObject({ code: 'overtaken', expected: third, received: second })
    expect((await read(type, 'a')).version).toBe(3)
    succeed(await revert(second, '?force=true'))
    expect(await read(type, 'a')).toMatchObject({ data: { n: 1 }, version: 4 })
    expect(succeed(await revert(first, '?force=true')).operation).toBe('delete')
    const again = expectFailure(await revert(first, '?force=true'), 'CONFLICT')
    expect(again.details[0].code).toBe('nothing_to_revert')
    expect(succeed(await revert(third, '?force=true'))).toMatchObject({ operation: 'restore', version: 6 })
    expect(await read(type, 'a')).toMatchObject({ data: { n: 2 } })
    expect(await world.logOf(type, 'a')).toHaveLength(6)
  })

  test('removes an external id that the change added, and is a conflict if the previous one is in use', async () => {
    const type = await world.newType()
    await put(type, 'a', { data: {} })
    await put(type, 'a', { data: {}, external_id: 'one' })
    await put(type, 'a', { data: {}, external_id: 'two' })
    await put(type, 'b', { data: {}, external_id: 'one' })
    const [, brought, changed] = await seqs(type, 'a')
    const error = expectFailure(await revert(changed), 'CONFLICT')
    expect(error.details[0]).toMatchObject({ code: 'duplicate_external_id', received: 'one' })
    succeed(await revert(brought, '?force=true'))
    expect(await read(type, 'a')).toMatchObject({ external_id: null, external_source: null })
  })

  test('is validated against the current schema and unique indexes, and updates index entries', async () => {
    const type = await world.newType({ indexes: [{ fields: ['data.n'], unique: true }] })
    await put(type, 'a', { data: { n: 1 } })
    await put(type, 'a', { data: { n: 2 } })
    await put(type, 'b', { data: { n: 1 } })
    const [, second] = await seqs(type, 'a')
    expect(expectFailure(await revert(second), 'CONFLICT').details[0].code).toBe('duplicate_value')
    succeed(await world.call('DELETE', at(type, 'b')))
    succeed(await revert(second))
    const filter = { field: 'data.n', op: 'eq', value: 1 }
    const found = succeed(await world.call('POST', `/v1/crm/records/${type}/query`, { filter }))
    expect(found.data.map(({ id }: Body) => id)).toEqual(['a'])
    await put(type, 'a', { data: { n: 3, more: true } })
    const json_schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['more'] }
    succeed(await world.call('PATCH', `/v1/crm/record-types/${type}`, { json_schema }))
    const last = (await seqs(type, 'a')).at(-1)
    expectFault(await revert(last), '/data/more')
    expect(await read(type, 'a')).toMatchObject({ data: { n: 3, more: true } })
  })

  test('as a dry run changes nothing, and happens once under an idempotency key', async () => {
    const type = await world.newType()
    for (const n of [1, 2]) await put(type, 'a', { data: { n } })
    const [, second] = await seqs(type, 'a')
    expect(succeed(await revert(second, '?dry_run=true'))).toMatchObject({ dry_run: true, version: 3 })
    expect((await read(type, 'a')).version).toBe(2)
    const key = { 'idempotency-key': `revert-${type}` }
    const send = () => world.call('POST', `/v1/crm/changes/${second}/revert`, undefined, key)
    const answers = await Promise.all([send(), send(), send()])
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1)
    expect((await read(type, 'a')).version).toBe(3)
  })
})

describe('Reverting changes of a relationship', () => {
  const link = async (id: string) => world.call('GET', `/v1/crm/relationships/${id}`)
  const linkSeqs = async (id: string) =>
    (
      await world.database.query<{ seq: string }>(
        `SELECT seq FROM plinth.change WHERE base_id = 'crm' AND kind = 'relationship' AND id = $1 ORDER BY seq`,
        [id],
      )
    ).map(({ seq }) => Number(seq))

  test('restores an updated link, deletes a created one, and creates a deleted one', async () => {
    const type = await world.newType()
    for (const id of ['a', 'b']) await put(type, id, { data: {} })
    const relType = { source_record_types: [type], target_record_types: [type] }
    succeed(await world.call('PUT', '/v1/crm/relationship-types/knows', relType), 201)
    const ends = { source_record_type: type, source_id: 'a', target_record_type: type, target_id: 'b' }
    const write = (since: number) =>
      world.call('PUT', '/v1/crm/relationships/l1', { rel_type: 'knows', ...ends, data: { since } })
    succeed(await write(1), 201)
    succeed(await write(2))
    const [made, changed] = await linkSeqs('l1')
    expectFailure(await revert(made), 'CONFLICT')
    expect(succeed(await revert(changed))).toMatchObject({
      kind: 'relationship',
      id: 'l1',
      operation: 'update',
    })
    expect(succeed(await link('l1')).data).toEqual({ since: 1 })
    const gone = succeed(await revert(made, '?force=true'))
    expect(gone).toMatchObject({ operation: 'delete', cause: String(made) })
    expectFailure(await link('l1'), 'NOT_FOUND')
    expect(succeed(await revert(gone.seq)).operation).toBe('create')
    expect(succeed(await link('l1'))).toMatchObject({ data: { since: 1 }, version: 5, ...ends })
  })
})

describe('Reverting a change of a record type', () => {
  const schema = (type: string) => ({ json_schema: { type: 'object', properties: { n: { type } } } })
  const lastOf = async (type: string) => {
    const { data } = succeed(await world.call('GET', `/v1/crm/record-types/${type}/history`))
    return Number(data[0].seq)
  }

  test('is refused if existing records violate the old schema, unless on_invalid=allow', async () => {
    const type = await world.newType(schema('number'))
    succeed(await world.call('PATCH', `/v1/crm/record-types/${type}`, schema('string')))
    await put(type, 'a', { data: { n: 'text' } })
    const seq = await lastOf(type)
    const refused = expectFailure(await revert(seq), 'CONFLICT').details[0]
    expect(refused).toMatchObject({ code: 'records_invalid', count: 1 })
    succeed(await revert(seq, '?on_invalid=allow'))
    expect(succeed(await world.call('GET', `/v1/crm/records/${type}/a`))).toMatchObject({ valid: false })
    expect(succeed(await world.call('GET', `/v1/crm/record-types/${type}`))).toMatchObject(schema('number'))
  })

  test('needs confirm if it deletes a type with records', async () => {
    const type = await world.newType()
    await put(type, 'a', { data: {} })
    const seq = await lastOf(type)
    expect(expectFailure(await revert(seq), 'CONFLICT').details[0].code).toBe('confirm_required')
    succeed(await revert(seq, `?confirm=${type}`))
    expectFailure(await world.call('GET', `/v1/crm/record-types/${type}`), 'NOT_FOUND')
    // Reverting the deletion restores the type; its records stay in the trash.
    succeed(await revert(await lastOf(type)))
    expect(succeed(await world.call('GET', `/v1/crm/record-types/${type}`))).toMatchObject({ version: 3 })
  })

  test('needs the manage permission on the type', async () => {
    const [mine, theirs] = [await world.newType(), await world.newType()]
    const manager = await world.newToken([{ record_type: mine, permission: 'manage' }])
    expectFailure(await manager.call('GET', `/v1/crm/record-types/${theirs}/history`), 'FORBIDDEN')
    expectFailure(await revert(await lastOf(theirs), '', manager.call), 'NOT_FOUND')
    succeed(await revert(await lastOf(mine), '', manager.call))
  })
})

describe('A revert is refused', () => {
  test('for a change of a base, an unknown seq, and a malformed seq', async () => {
    const [entry] = await world.database.query<{ seq: string }>(
      `SELECT seq FROM plinth.change WHERE base_id = 'crm' AND kind = 'base'`,
    )
    const refused = expectFault(await revert(Number(entry?.seq)), 'path/seq')
    expect(refused).toMatchObject({
      code: 'not_revertible',
      received: 'base',
      message: 'A change of kind "base" cannot be reverted. Send the former state with a PUT.',
    })
    expect(expectFailure(await revert(999_999_999), 'NOT_FOUND').details[0].code).toBe('change_not_found')
    for (const seq of ['0', 'x', '-1', '1.5'])
      expectFault(await world.call('POST', `/v1/crm/changes/${seq}/revert`), 'path/seq')
    expectFault(await revert(Number(entry?.seq), '?forced=true'), 'query/forced')
    expectFailure(await world.call('POST', '/v1/absent/changes/1/revert'), 'NOT_FOUND')
  })

  test('without write permission; a change that the token may not see is answered like an absent one', async () => {
    const [mine, theirs] = [await world.newType(), await world.newType()]
    for (const type of [mine, theirs]) for (const n of [1, 2]) await put(type, 'a', { data: { n } })
    const [, own] = await seqs(mine, 'a')
    const [, foreign] = await seqs(theirs, 'a')
    const reader = await world.newToken([{ record_type: mine, permission: 'read' }])
    expectFailure(await revert(own, '', reader.call), 'FORBIDDEN')
    const writer = await world.newToken([{ record_type: mine, permission: 'write' }])
    const hidden = expectFailure(await revert(foreign, '', writer.call), 'NOT_FOUND')
    const absent = expectFailure(await revert(999_999_999, '', writer.call), 'NOT_FOUND')
    expect(hidden.message.replace(String(foreign), '')).toBe(absent.message.replace('999999999', ''))
    expect((await read(theirs, 'a')).version).toBe(2)
    succeed(await revert(own, '', writer.call))
  })
})
