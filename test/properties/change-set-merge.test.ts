// @module-tag full
/** What is promoted is what direct writes would have made, and taking it back leaves what was there. */

import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { comparable, fillLinked, operation, type Sent } from '../support/change-set-operations.ts'
import { forAll } from '../support/for-all.ts'
import type { Answer, Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let serial = 0
/** Changes that were taken back by themselves. */
let parts = 0
beforeAll(async () => {
  world = await openWorld({ PLINTH_RATE_LIMIT: '0' })
})
afterAll(() => world.close())

/** Sends again what was one too many at a time, and what production plans first. */
async function send(base: string, [method, path, body, headers]: Sent): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await world.call(method, `/v1/${base}/${path}`, body, headers)
    const plan = answer.status === 200 && answer.body?.plan_token
    if (typeof plan === 'string') return world.call(method, `/v1/${base}/${path}`, { plan_token: plan })
    if (answer.status !== 429 || tries === 50) return answer
    await sleep(20 * tries)
  }
}

/** Records, links, index entries and texts of a base, without what no two writes have in common. */
async function dump(base: string): Promise<unknown> {
  const rows = async (text: string) => comparable(await world.database.query(text, [base]))
  return {
    records: await rows(
      `SELECT record_type, id, external_source, external_id, data, cancelled_at IS NULL AS is_active, valid
       FROM plinth.record WHERE base_id = $1 ORDER BY record_type, id`,
    ),
    links: await rows(
      `SELECT rel_type, source_record_type, source_id, target_record_type, target_id, data, one_target, one_source
       FROM plinth.relationship WHERE base_id = $1 ORDER BY rel_type, source_id, target_id`,
    ),
    entries: await rows(
      `SELECT t.fields::text AS fields, e.k1, e.k2, e.k3, e.id, e.is_unique, e.row_no = r.row_no AS is_of_record
       FROM plinth.record_index e JOIN plinth.record_type_index t ON t.id = e.index_id
       LEFT JOIN plinth.record r ON r.base_id = e.base_id AND r.record_type = t.record_type AND r.id = e.id
       WHERE e.base_id = $1 ORDER BY 1, 2, 3, 4, 5`,
    ),
    texts: await rows(
      `SELECT t.fields::text AS fields, x.field, x.id, x.words FROM plinth.record_text x
       JOIN plinth.record_type_index t ON t.id = x.index_id WHERE x.base_id = $1 ORDER BY 1, 2, 3`,
    ),
  }
}

const takeBack = (base: string, body: object) => world.call('POST', `/v1/${base}/promote/rollback`, body)

/** The versions of records and links, by what a change names. */
async function versions(base: string): Promise<Record<string, number>> {
  const rows = await world.database.query<{ key: string; version: number }>(
    `SELECT 'record ' || record_type || '/' || id AS key, version FROM plinth.record WHERE base_id = $1
     UNION ALL SELECT 'relationship ' || id, version FROM plinth.relationship WHERE base_id = $1`,
    [base],
  )
  return Object.fromEntries(rows.map(({ key, version }) => [key, version]))
}

/** Takes every second change back, the last first. What others of the promotion stand on may refuse; all else stays as it is. */
async function takeBackInParts(base: string, { id, changes }: Body): Promise<void> {
  for (const { kind, id: name } of changes.filter((_: Body, n: number) => n % 2 === 0).reverse()) {
    const [type, own] = name.split('/')
    const resources = [kind === 'record' ? { kind, record_type: type, id: own } : { kind, id: name }]
    const { [`${kind} ${name}`]: _, ...others } = await versions(base)
    const answer = await takeBack(base, { promotion_id: id, resources })
    expect([200, 409], answer.text).toContain(answer.status)
    if (answer.status === 200) parts++
    const { [`${kind} ${name}`]: __, ...left } = await versions(base)
    expect(left).toEqual(others)
  }
}

/** A value or an end that is given and taken in turn: the operations succeed one by one, their sum finds it taken. */
const IN_TURN = new Set(['duplicate_external_id', 'cardinality'])

test('promoting makes of production what the same writes make of it, and the rollback takes it back', {
  timeout: CASES_TIMEOUT,
}, async () => {
  let merged = 0
  let tried = 0
  await forAll(fc.array(operation, { minLength: 1, maxLength: 10 }), 200, async (operations) => {
    const n = ++serial
    const [direct, reviewed] = [`direct${n}`, `reviewed${n}`]
    for (const base of [direct, reviewed]) {
      succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
      await fillLinked(world.call, base)
    }
    const before = await dump(reviewed)
    const opened = await world.call('POST', `/v1/${reviewed}/preview`, { copy: 'on_write' })
    const { id } = succeed(opened, 201)
    for (const sent of operations) {
      const [expected, got] = [await send(direct, sent), await send(id, sent)]
      // A record that was deleted in it comes back by a discard.
      if (sent[1].endsWith('/restore') && got.status === 404 && expected.status === 200) return
      // Versions of a record that was deleted and made again count on in each log by itself.
      if (expected.status !== got.status)
        expect({ sent, status: got.status }).toEqual({ sent, status: expected.status })
    }
    expect(await dump(reviewed)).toEqual(before)
    const promoted = await world.call('POST', `/v1/${reviewed}/promote`, { from: id })
    tried++
    if (promoted.status === 409) {
      expect(promoted.body.error.details.every(({ code }: { code: string }) => IN_TURN.has(code))).toBe(true)
      expect(await dump(reviewed)).toEqual(before)
    } else {
      const done = succeed(promoted)
      merged++
      expect(await dump(reviewed)).toEqual(await dump(direct))
      if (done.changes.length > 0) {
        if (n % 2) await takeBackInParts(reviewed, done)
        const { status } = succeed(await world.call('GET', `/v1/${reviewed}/promotions/${done.id}`))
        if (status === 'applied') succeed(await takeBack(reviewed, { promotion_id: done.id }))
        expect(await dump(reviewed)).toEqual(before)
      }
    }
    for (const base of [direct, reviewed]) await world.call('DELETE', `/v1/bases/${base}?confirm=${base}`)
  })
  expect(merged).toBeGreaterThan(tried * 0.7)
  expect(parts).toBeGreaterThan(merged / 4)
})

test('a promotion refuses what its proposal names and nothing else, also where production has written beside it', {
  timeout: CASES_TIMEOUT,
}, async () => {
  const sides = fc.tuple(fc.boolean(), operation)
  await forAll(fc.array(sides, { minLength: 2, maxLength: 14 }), 100, async (operations) => {
    const base = `beside${++serial}`
    succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
    await fillLinked(world.call, base)
    const { id } = succeed(await world.call('POST', `/v1/${base}/preview`, { copy: 'on_write' }), 201)
    for (const [isProduction, sent] of operations) await send(isProduction ? base : id, sent)
    const proposal = succeed(await world.call('POST', `/v1/${base}/promote/proposal`, { from: id }))
    const refused = [...proposal.conflicts, ...proposal.breaks].map(({ path }: { path: string }) => path)
    const before = await dump(base)
    const { status, text } = await world.call('POST', `/v1/${base}/promote`, { from: id, dry_run: true })
    expect({ operations, refused, text, status }).toMatchObject({ status: refused.length > 0 ? 409 : 200 })
    expect(await dump(base)).toEqual(before)
    for (const each of [id, base]) await world.call('DELETE', `/v1/bases/${each}?confirm=${each}`)
  })
})
