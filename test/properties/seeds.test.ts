// @module-tag full
// @module-tag sampled
/** Random changes to the rows of a seed and to others: a reset restores the former and touches none of the latter. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { forAll } from '../support/for-all.ts'
import { callTool } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let serial = 0
beforeAll(async () => {
  world = await openWorld({ PLINTH_RATE_LIMIT: '0' })
})
afterAll(() => world.close())

const person = (external_id: string, data: object) => ({ record_type: 'person', external_id, data })
const team = (external_id: string, data: object) => ({ record_type: 'team', external_id, data })
const member = (source: string, target: string, data?: object) => ({
  rel_type: 'member',
  source: { record_type: 'person', external_id: source },
  target: { record_type: 'team', external_id: target },
  ...(data && { data }),
})
const SEED = {
  records: [
    person('ann', { name: 'Ann', tags: ['a', 'b'], n: 1.5, deep: { list: [1, null, ''] } }),
    person('bob', {}),
    person('cy', { name: 'Cy "é" 𝄞' }),
    team('red', { name: 'Red' }),
    team('blue', { name: 'Blue' }),
  ],
  relationships: [
    member('ann', 'red', { since: 2020 }),
    member('bob', 'red'),
    member('ann', 'blue', { a: { b: [] } }),
  ],
}
/** An earlier version, with rows that the seed no longer declares. */
const WIDER = {
  records: [...SEED.records, person('zoe', { name: 'Zoe' }), team('old', {})],
  relationships: [...SEED.relationships, member('zoe', 'old'), member('cy', 'red'), member('bob', 'old')],
}

const ACTS = [
  'edit',
  'cancel',
  'delete',
  'rename',
  'unlink',
  'edit link',
  'own record',
  'other record',
  'other link',
  'stray',
  'patch',
  'batch',
  'sql',
  'tool',
  'revert',
  'claim',
  'undelete',
  'relink',
] as const
const acts = fc.array(fc.tuple(fc.constantFrom(...ACTS), fc.nat(1000), fc.nat(1000)), {
  minLength: 1,
  maxLength: 12,
})

const ROWS = `SELECT record_type, id, external_source, external_id, data::text AS data, cancelled_at, version, updated_at, valid
  FROM plinth.record WHERE base_id = $1 ORDER BY record_type, external_id, id`
const LINKS = `SELECT l.id, l.rel_type, l.external_source, l.external_id, l.data::text AS data, l.version, l.updated_at,
    s.external_source AS from_source, s.external_id AS from_id, t.external_source AS to_source, t.external_id AS to_id
  FROM plinth.relationship l JOIN plinth.record s ON s.row_no = l.source_row JOIN plinth.record t ON t.row_no = l.target_row
  WHERE l.base_id = $1 ORDER BY l.rel_type, l.external_id, l.id`

const rowsOf = (base: string) => world.database.query<Body>(ROWS, [base])
const linksOf = (base: string) => world.database.query<Body>(LINKS, [base])
const isOwn = ({ external_source }: Body) => external_source === 'seed:demo'
/** What a seed declares of its rows, as it is stored. */
const baselineOf = async (base: string) => ({
  records: (await rowsOf(base))
    .filter(isOwn)
    .map(({ record_type, external_id, data, cancelled_at, valid }) => [
      record_type,
      external_id,
      data,
      cancelled_at,
      valid,
    ]),
  links: (await linksOf(base))
    .filter(isOwn)
    .map(({ rel_type, external_id, data, from_source, from_id, to_source, to_id }) => [
      rel_type,
      external_id,
      data,
      [from_source, from_id],
      [to_source, to_id],
    ]),
})
const foreignOf = async (base: string) => ({
  records: (await rowsOf(base)).filter((row) => !isOwn(row)),
  links: (await linksOf(base)).filter((row) => !isOwn(row)),
})

test('a reset restores the baseline byte for byte, and touches nothing foreign', {
  timeout: CASES_TIMEOUT,
}, async () => {
  const home = 'home'
  succeed(await world.call('PUT', `/v1/bases/${home}`, {}), 201)
  for (const type of ['person', 'team'])
    succeed(await world.call('PUT', `/v1/${home}/record-types/${type}`, {}), 201)
  for (const type of ['member', 'knows'])
    succeed(await world.call('PUT', `/v1/${home}/relationship-types/${type}`, {}), 201)

  await forAll(acts, 40, async (changes) => {
    const name = `s${++serial}`
    const base = `${home}--${name}`
    const run = async (verb: string) => succeed(await world.call('POST', `/v1/${base}/seeds/demo/${verb}`))
    succeed(await world.call('POST', `/v1/${home}/preview`, { name }), 201)
    succeed(await world.call('PUT', `/v1/${base}/seeds/demo`, SEED), 201)
    await run('apply')
    const baseline = await baselineOf(base)
    expect([baseline.records.length, baseline.links.length]).toEqual([5, 3])
    succeed(await world.call('PUT', `/v1/${base}/seeds/demo`, WIDER))
    await run('apply')
    succeed(await world.call('PUT', `/v1/${base}/seeds/demo`, SEED))
    for (const [what, a, b] of changes) await perform(base, what, a, b)

    const before = await foreignOf(base)
    await run('reset')
    expect(await baselineOf(base)).toEqual(baseline)
    const after = await foreignOf(base)
    expect(after.records).toEqual(before.records)
    // A link cannot outlive its end: those of rows that the seed no longer declares go with these.
    const declared = (source: string, id: string) =>
      source !== 'seed:demo' || SEED.records.some(({ external_id }) => external_id === id)
    expect(after.links).toEqual(
      before.links.filter(
        (link) =>
          declared(link['from_source'], link['from_id']) && declared(link['to_source'], link['to_id']),
      ),
    )
    const count = async () =>
      (await world.database.query('SELECT seq FROM plinth.change WHERE base_id = $1', [base])).length
    const entries = await count()
    await run('reset')
    expect(await count(), 'a second reset writes nothing').toBe(entries)
    await run('clear')
    expect(await baselineOf(base)).toEqual({ records: [], links: [] })
    expect((await foreignOf(base)).records).toEqual(before.records)
    succeed(await world.call('DELETE', `/v1/bases/${base}?confirm=${base}`))
  })
})

async function perform(base: string, what: (typeof ACTS)[number], a: number, b: number): Promise<void> {
  const rows = await rowsOf(base)
  const own = rows.filter(isOwn)
  const links = (await linksOf(base)).filter(isOwn)
  const row = own[a % Math.max(1, own.length)]
  const link = links[a % Math.max(1, links.length)]
  const at = `/v1/${base}/records`
  if (what === 'own record')
    await world.call('POST', `${at}/person`, {
      data: { n: a },
      external_id: `own${b % 3}`,
      external_source: 'seed:demo',
    })
  else if (what === 'other record')
    await world.call('POST', `${at}/${a % 2 ? 'person' : 'team'}`, {
      data: { n: a },
      ...(b % 3 > 0 && { external_id: 'ann', external_source: b % 3 === 1 ? 'seed:other' : 'crm' }),
    })
  else if (what === 'other link' && rows.length > 1) {
    const [one, two] = [rows[a % rows.length] as Body, rows[b % rows.length] as Body]
    await world.call('PUT', `/v1/${base}/relationships`, {
      rel_type: 'knows',
      source_record_type: one['record_type'],
      source_id: one['id'],
      target_record_type: two['record_type'],
      target_id: two['id'],
      data: { a },
    })
  } else if (what === 'edit link' && link)
    await world.call('PUT', `/v1/${base}/relationships/${link['id']}`, await editOf(base, link['id'], a))
  else if (what === 'unlink' && link)
    succeed(await world.call('DELETE', `/v1/${base}/relationships/${link['id']}`))
  if (!row) return
  const path = `${at}/${row['record_type']}/${row['id']}`
  if (what === 'edit') succeed(await world.call('PUT', path, { data: { edited: a } }))
  if (what === 'cancel') succeed(await world.call('POST', `${path}/cancel`))
  if (what === 'delete') succeed(await world.call('DELETE', path))
  if (what === 'rename') await world.call('PATCH', path, { external_id: `renamed${b % 3}` })
  if (what === 'stray') await world.call('PATCH', path, { external_source: 'elsewhere' })
  const { record_type, id } = row
  if (what === 'patch')
    await world.call('PATCH', path, [{ op: 'add', path: '/data/patched', value: a }], {
      'content-type': 'application/json-patch+json',
    })
  if (what === 'batch') {
    const operations = [
      { type: 'update_record', record_type, id, data: { batch: b } },
      { type: b % 2 ? 'cancel_record' : 'delete_record', record_type, id },
    ]
    await world.call('POST', `/v1/${base}/batch`, { operations })
  }
  if (what === 'sql') {
    const change = b % 2 ? `DELETE FROM ${record_type}` : `UPDATE ${record_type} SET data = '{"sql":1}'`
    const statements = `${change} WHERE id = '${id}'`
    await world.call('POST', `/v1/${base}/sql/execute`, { statements })
  }
  if (what === 'tool')
    await callTool(
      world,
      `/mcp/${base}`,
      'update_record',
      { record_type, id, data: { tool: a }, ...(b % 2 && { external_id: `tool${b}` }) },
      { token: world.adminToken },
    )
  if (what === 'revert') {
    const { data } = succeed(await world.call('GET', `${path}/history`))
    await world.call('POST', `/v1/${base}/changes/${data[b % data.length].seq}/revert?force=true`)
  }
  if (what === 'claim') await world.call('POST', `${at}/${record_type}/claim`)
  if (what === 'undelete') {
    await world.call('DELETE', path)
    await world.call('POST', `${path}/restore`)
  }
  const to = own.find((each) => each['record_type'] === 'team')
  if (what === 'relink' && to && link)
    await world.call('PUT', `/v1/${base}/relationships`, {
      ...{ rel_type: 'member', source_record_type: record_type, source_id: id },
      ...{ target_record_type: 'team', target_id: to['id'], data: { relinked: b } },
      ...(b % 2 && { external_source: 'seed:demo', external_id: `relinked${b}` }),
    })
}

/** The body that replaces the data of a link. */
async function editOf(base: string, id: string, n: number): Promise<Body> {
  const { rel_type, source_record_type, source_id, target_record_type, target_id } = succeed(
    await world.call('GET', `/v1/${base}/relationships/${id}`),
  )
  return {
    rel_type,
    source_record_type,
    source_id,
    target_record_type,
    target_id,
    data: { edited: n },
  }
}
