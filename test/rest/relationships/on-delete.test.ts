import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, succeed, times } from '../../support/answers.ts'
import { lastSeq, link, linkNames, logAfter, relate } from '../../support/links.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let type: string
let at: string
let serial = 0

beforeAll(async () => {
  world = await openWorld()
  type = await world.newType({
    indexes: [{ fields: ['data.n'] }, { fields: ['data.word'], type: 'text' }],
  })
  at = `/v1/crm/records/${type}`
  for (const on of ['unlink', 'restrict', 'cascade'])
    succeed(await world.call('PUT', `/v1/crm/relationship-types/${on}`, { on_delete: on }), 201)
})
afterAll(() => world.close())

/** Creates records of the type and returns their ids. */
async function made(count: number): Promise<string[]> {
  const ids = times(count, () => `r${++serial}`)
  for (const id of ids)
    succeed(await world.call('PUT', `${at}/${id}`, { data: { n: 1, word: `hello ${id}` } }), 201)
  return ids
}
const linked = async (relType: string, source: string, target: string) =>
  succeed(await relate(world.call, relType, [type, source], [type, target]), 201)
const remove = (id: string, query = '') => world.call('DELETE', `${at}/${id}${query}`)
const there = async (ids: readonly string[]) => {
  const answers = await Promise.all(ids.map((id) => world.call('GET', `${at}/${id}`)))
  return answers.map(({ status }) => status === 200)
}

test('unlink: deleting either end deletes the link and keeps the other end', { tags: 'full' }, async () => {
  for (const end of [0, 1]) {
    const ids = (await made(2)) as [string, string]
    await linked('unlink', ...ids)
    succeed(await remove(ids[end] as string))
    expect(await there(ids)).toEqual([end === 1, end === 0])
    expect(await linkNames(world)).toEqual([])
  }
})

test('restrict: deleting a linked target is refused with its links and writes nothing; deleting the source deletes the link', {
  tags: 'full',
}, async () => {
  const [source = '', target = ''] = await made(2)
  const { id } = await linked('restrict', source, target)
  const seq = await lastSeq(world)
  const error = expectFailure(await remove(target), 'CONFLICT')
  expect(error.details).toEqual([
    {
      path: 'path/id',
      code: 'restricted',
      message: expect.stringContaining('Delete the link or its source first'),
      count: 1,
      samples: [{ id, ...link('restrict', [type, source], [type, target]) }],
    },
  ])
  expect(await logAfter(world, seq)).toEqual([])
  succeed(await remove(source))
  succeed(await remove(target))
})

test('restrict: the error counts every link and shows ten', { tags: 'full' }, async () => {
  const [target = '', ...sources] = await made(13)
  for (const source of sources) await linked('restrict', source, target)
  const [detail] = expectFailure(await remove(target), 'CONFLICT').details
  expect(detail.count).toBe(12)
  expect(detail.samples).toHaveLength(10)
  for (const source of sources) succeed(await remove(source))
})

test('cascade: deleting a target deletes its sources, along chains and cycles, and keeps its own targets', {
  tags: 'full',
}, async () => {
  const [a = '', b = '', c = '', d = '', e = ''] = await made(5)
  // a → b → c → a is a cycle; d links to b, and c links to e.
  for (const [from, to] of [
    [a, b],
    [b, c],
    [c, a],
    [d, b],
    [c, e],
  ] as const)
    await linked('cascade', from, to)
  const seq = await lastSeq(world)
  succeed(await remove(b))
  expect(await there([a, b, c, d, e])).toEqual([false, false, false, false, true])
  expect(await linkNames(world)).toEqual([])
  const [first, ...rest] = await logAfter(world, seq)
  expect(first).toMatchObject({ kind: 'record', id: b, operation: 'delete', version: 2, cause: null })
  expect(rest.map(({ kind, operation, cause }) => [kind, operation, cause])).toEqual([
    ...times(3, () => ['record', 'delete', first?.seq]),
    ...times(5, () => ['relationship', 'delete', first?.seq]),
  ])
  expect(rest.slice(3).map(({ data }) => data['rel_type'])).toEqual(times(5, () => 'cascade'))
  expect(new Set(rest.map(({ xid }) => xid))).toEqual(new Set([first?.xid]))
  for (const table of ['record_index', 'record_text'])
    expect(
      await world.database.query(`SELECT id FROM plinth.${table} WHERE id = ANY ($1)`, [[a, b, c, d]]),
    ).toEqual([])
})

test('cascade: deleting the end of a chain of 100 records deletes all of them', {
  tags: 'full',
}, async () => {
  const ids = await made(1)
  for (const _ of times(99, () => 0)) {
    const id = `r${++serial}`
    const body = { data: {}, relationships: [{ rel_type: 'cascade', record_type: type, id: ids.at(-1) }] }
    succeed(await world.call('PUT', `${at}/${id}`, body), 201)
    ids.push(id)
  }
  succeed(await remove(ids[0] as string))
  expect(await linkNames(world)).toEqual([])
  expect(succeed(await world.call('GET', `${at}?include_total=true`)).data).not.toContainEqual(
    expect.objectContaining({ id: ids.at(-1) }),
  )
})

test('a restricting link deep in a cascade refuses the whole deletion, unless its source is deleted too', {
  tags: 'full',
}, async () => {
  const [target = '', source = '', guard = ''] = await made(3)
  await linked('cascade', source, target)
  await linked('restrict', guard, source)
  expectFailure(await remove(target), 'CONFLICT')
  expect(await there([target, source, guard])).toEqual([true, true, true])
  await linked('cascade', guard, target)
  succeed(await remove(target))
  expect(await there([target, source, guard])).toEqual([false, false, false])
})

test('a link of a record to itself never prevents its deletion', { tags: 'full' }, async () => {
  for (const on of ['unlink', 'restrict', 'cascade']) {
    const [id = ''] = await made(1)
    await linked(on, id, id)
    succeed(await remove(id))
  }
  expect(await linkNames(world)).toEqual([])
})

test('a dry run of a cascade deletes nothing, and an idempotency key makes it happen once', async () => {
  const [source = '', target = ''] = await made(2)
  await linked('cascade', source, target)
  expect(succeed(await remove(target, '?dry_run=true'))).toEqual({
    id: target,
    deleted: true,
    dry_run: true,
    deletion: {
      records: { count: 2, by_type: { type1: 2 } },
      relationships: { count: 1, by_type: { cascade: 1 } },
      samples: [`type1/${target}`, `type1/${source}`],
    },
  })
  expect(await there([source, target])).toEqual([true, true])
  const key = { 'idempotency-key': `once-${target}` }
  for (const replayed of [null, 'true']) {
    const answer = await world.call('DELETE', `${at}/${target}`, undefined, key)
    expect(succeed(answer)).toEqual({ id: target, deleted: true })
    expect(answer.headers.get('idempotency-replayed')).toBe(replayed)
  }
  expect(await there([source, target])).toEqual([false, false])
})

test('If-Match applies to the deletion of a linked record', async () => {
  const [source = '', target = ''] = await made(2)
  await linked('unlink', source, target)
  const stale = await world.call('DELETE', `${at}/${target}`, undefined, { 'if-match': '"7"' })
  expect(expectFailure(stale, 'CONFLICT').details[0]).toMatchObject({
    code: 'version_mismatch',
    expected: 1,
    received: 7,
  })
  expect(await linkNames(world)).toEqual([`unlink:${source}>${target}`])
  succeed(await world.call('DELETE', `${at}/${target}`, undefined, { 'if-match': '"1"' }))
})

test('links that the token may not read still restrict, unlink and cascade, and are never named', {
  tags: 'full',
}, async () => {
  const hidden = await world.newType()
  const { call } = await world.newToken([{ record_type: type, permission: 'write' }])
  const put = (id: string, relType: string, target: string) =>
    world.call('PUT', `/v1/crm/records/${hidden}/${id}`, {
      data: {},
      relationships: [{ rel_type: relType, record_type: type, id: target }],
    })
  const [target = '', seen = ''] = await made(2)
  succeed(await put('h1', 'restrict', target), 201)
  const only = await call('DELETE', `${at}/${target}`)
  expect(expectFailure(only, 'CONFLICT').details.map(({ code }: { code: string }) => code)).toEqual([
    'restricted_unseen',
  ])
  expect(only.text).not.toMatch(/h1|"count"|"samples"/)
  expect(only.text).not.toContain(hidden)
  await linked('restrict', seen, target)
  const both = expectFailure(await call('DELETE', `${at}/${target}`), 'CONFLICT')
  expect(both.details).toMatchObject([{ code: 'restricted', count: 1 }, { code: 'restricted_unseen' }])
  expect(JSON.stringify(both)).not.toContain(hidden)
  succeed(await world.call('DELETE', `/v1/crm/records/${hidden}/h1`))
  succeed(await put('h2', 'cascade', target), 201)
  succeed(await remove(seen))
  succeed(await call('DELETE', `${at}/${target}`))
  expectFailure(await world.call('GET', `/v1/crm/records/${hidden}/h2`), 'NOT_FOUND')
})

test('deleting a record type deletes its links first, and the records of other types that cascade from them', {
  tags: 'full',
}, async () => {
  const other = await world.newType()
  const doomed = await world.newType()
  const put = (recordType: string, id: string, relationships: object[] = []) =>
    world.call('PUT', `/v1/crm/records/${recordType}/${id}`, { data: {}, relationships })
  succeed(await put(doomed, 'd1'), 201)
  succeed(await put(doomed, 'd2', [{ rel_type: 'restrict', record_type: doomed, id: 'd1' }]), 201)
  succeed(await put(other, 'o1', [{ rel_type: 'restrict', record_type: doomed, id: 'd1' }]), 201)
  succeed(await put(other, 'o2', [{ rel_type: 'cascade', record_type: doomed, id: 'd2' }]), 201)
  succeed(await put(other, 'o3', [{ rel_type: 'cascade', record_type: other, id: 'o2' }]), 201)
  succeed(await put(other, 'o4', [{ rel_type: 'unlink', record_type: doomed, id: 'd2' }]), 201)
  const path = `/v1/crm/record-types/${doomed}`
  expectFailure(await world.call('DELETE', path), 'CONFLICT')
  const refused = expectFailure(await world.call('DELETE', `${path}?confirm=${doomed}`), 'CONFLICT')
  expect(refused.details).toMatchObject([{ path: 'path/id', code: 'restricted', count: 1 }])
  expect(refused.details[0].samples).toMatchObject([{ source_id: 'o1', target_id: 'd1' }])
  succeed(await world.call('DELETE', `/v1/crm/records/${other}/o1`))
  const seq = await lastSeq(world)
  succeed(await world.call('DELETE', `${path}?confirm=${doomed}`))
  expect(await linkNames(world)).toEqual([])
  const left = succeed(await world.call('GET', `/v1/crm/records/${other}`)).data
  expect(left.map(({ id }: { id: string }) => id)).toEqual(['o4'])
  const log = await logAfter(world, seq)
  expect(log.at(-1)).toMatchObject({ kind: 'record_type', id: doomed, operation: 'delete' })
  const links = log.filter(({ kind }) => kind === 'relationship')
  expect(links.map(({ operation }) => operation)).toEqual(times(4, () => 'delete'))
  const records = log.filter(({ kind }) => kind === 'record').map(({ id }) => id)
  expect(records.toSorted()).toEqual(['d1', 'd2', 'o2', 'o3'])
})

test('deleting a base deletes its links', { tags: 'full' }, async () => {
  succeed(await world.call('PUT', '/v1/bases/brief', {}), 201)
  succeed(await world.call('PUT', '/v1/brief/record-types/t', {}), 201)
  succeed(await world.call('PUT', '/v1/brief/relationship-types/r', { on_delete: 'restrict' }), 201)
  succeed(await world.call('PUT', '/v1/brief/records/t/a', { data: {} }), 201)
  const more = { data: {}, relationships: [{ rel_type: 'r', record_type: 't', id: 'a' }] }
  succeed(await world.call('PUT', '/v1/brief/records/t/b', more), 201)
  succeed(await world.call('DELETE', '/v1/bases/brief?confirm=brief'))
  expect(await world.database.query(`SELECT id FROM plinth.relationship WHERE base_id = 'brief'`)).toEqual([])
})

/** Links every record of `sources` to every record of `targets` with one SQL statement. */
async function linkAll(relType: string, sources: string, targets: string): Promise<void> {
  await world.database.query(
    `INSERT INTO plinth.relationship (base_id, id, rel_type, source_record_type, source_id, source_row, target_record_type,
       target_id, target_row, data, one_target, one_source)
     SELECT 'crm', gen_random_uuid(), $1, s.record_type, s.id, s.row_no, t.record_type, t.id, t.row_no, '{}', false, false
     FROM plinth.record s, plinth.record t
     WHERE s.base_id = 'crm' AND s.record_type = $2 AND t.base_id = 'crm' AND t.record_type = $3`,
    [relType, sources, targets],
  )
  // The server analyzes tables that have grown.
  await world.database.query('ANALYZE plinth.record, plinth.relationship')
}
async function typeOf(count: number): Promise<string> {
  const name = await world.newType()
  await world.database.query(
    `INSERT INTO plinth.record (base_id, record_type, id, data, version)
     SELECT 'crm', $1, 'r' || n, '{}', 1 FROM generate_series(1, $2::int) n`,
    [name, count],
  )
  return name
}

test('one deletion cascades to at most 10,000 records', {
  tags: 'full',
}, async () => {
  const [sources, target] = [await typeOf(10_000), await typeOf(1)]
  await linkAll('cascade', sources, target)
  const path = `/v1/crm/records/${target}/r1`
  succeed(await world.call('DELETE', `${path}?dry_run=true`))
  const more = await typeOf(1)
  await linkAll('cascade', more, target)
  const { details } = expectFailure(await world.call('DELETE', path), 'CONFLICT')
  expect(details).toMatchObject([{ path: 'path/id', code: 'cascade_too_large', expected: 10_000 }])
})

test('one deletion deletes at most 50,000 links, over all records that it cascades to', {
  tags: 'full',
}, async () => {
  const [sources, targets] = [await typeOf(400), await typeOf(125)]
  await linkAll('unlink', sources, targets)
  const hub = await typeOf(1)
  await linkAll('cascade', sources, hub)
  const path = `/v1/crm/records/${hub}/r1`
  const seq = await lastSeq(world)
  const { details } = expectFailure(await world.call('DELETE', path), 'CONFLICT')
  expect(details).toMatchObject([{ path: 'path/id', code: 'too_many_links', expected: 50_000 }])
  expect(await logAfter(world, seq)).toEqual([])
  succeed(await world.call('DELETE', `/v1/crm/records/${targets}/r1`))
  succeed(await world.call('DELETE', `/v1/crm/records/${targets}/r2`))
  succeed(await world.call('DELETE', path))
})
