// @module-tag full
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed, times } from '../../support/answers.ts'
import { relate } from '../../support/links.ts'
import type { Answer } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

// Two servers on one database, so that locks within a process cannot hide a race.
let one: World
let two: World
let type: string
let at: string
beforeAll(async () => {
  one = await openWorld()
  two = await openWorld({}, one.database)
  type = await one.newType()
  at = `/v1/crm/records/${type}`
  for (const on of ['unlink', 'restrict', 'cascade'])
    succeed(await one.call('PUT', `/v1/crm/relationship-types/${on}`, { on_delete: on }), 201)
})
afterAll(async () => {
  await two.close()
  await one.close()
})

const either = (i: number) => (i % 2 ? one : two).call
const put = (id: string, recordType = type) =>
  one.call('PUT', `/v1/crm/records/${recordType}/${id}`, { data: {} })

function expectNone500(answers: readonly Answer[]): void {
  for (const { status, text } of answers) expect([200, 201, 400, 404, 409], text).toContain(status)
}

/** Checks that no link has a missing end, and that the log agrees with the existing links and records. */
async function expectSound(): Promise<void> {
  const dangling = await one.database.query(
    `SELECT l.id FROM plinth.relationship l WHERE NOT EXISTS (
       SELECT FROM plinth.record s JOIN plinth.record t ON t.row_no = l.target_row
       WHERE s.row_no = l.source_row AND (s.record_type, s.id, t.record_type, t.id)
         = (l.source_record_type, l.source_id, l.target_record_type, l.target_id))`,
  )
  expect(dangling).toEqual([])
  const unlogged = await one.database.query(
    `SELECT c.kind, c.id, c.operation FROM (
       SELECT DISTINCT ON (kind, record_type, id) * FROM plinth.change WHERE kind IN ('record', 'relationship')
       ORDER BY kind, record_type, id, version DESC) c
     WHERE (c.operation <> 'delete') <> CASE c.kind
       WHEN 'record' THEN EXISTS (SELECT FROM plinth.record r WHERE r.base_id = c.base_id AND r.record_type = c.record_type AND r.id = c.id)
       ELSE EXISTS (SELECT FROM plinth.relationship l WHERE l.base_id = c.base_id AND l.id = c.id) END`,
  )
  expect(unlogged).toEqual([])
}

test.each(['unlink', 'restrict', 'cascade'])(
  'links concurrent with deletions of their records leave no dangling link and no 500 (%s)',
  async (relType) => {
    for (const round of times(15, (n) => n)) {
      const ids = times(4, (i) => `${relType}-${round}-${i}`)
      await Promise.all(ids.map((id) => put(id)))
      const [a = '', b = '', c = '', d = ''] = ids
      const answers = await Promise.all([
        relate(either(0), relType, [type, a], [type, b]),
        either(1)('DELETE', `${at}/${b}`),
        relate(either(1), relType, [type, b], [type, c]),
        either(0)('DELETE', `${at}/${a}`),
        either(1)('PUT', `${at}/${d}`, {
          data: { round },
          relationships: [
            { rel_type: relType, record_type: type, id: c },
            { rel_type: relType, direction: 'incoming', record_type: type, id: a },
          ],
        }),
        either(0)('DELETE', `${at}/${c}`),
      ])
      expectNone500(answers)
    }
    await expectSound()
  },
)

test('concurrent cascades around one circle of links terminate, and delete each record once', async () => {
  for (const round of times(8, (n) => n)) {
    const ids = times(6, (i) => `circle-${round}-${i}`)
    await Promise.all(ids.map((id) => put(id)))
    for (const [i, id] of ids.entries())
      succeed(await relate(one.call, 'cascade', [type, id], [type, ids[(i + 1) % 6] as string]), 201)
    const answers = await Promise.all(ids.map((id, i) => either(i)('DELETE', `${at}/${id}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404, 404])
  }
  await expectSound()
})

test('a deletion under an idempotency key is retried when it conflicts with a new link', async () => {
  for (const round of times(10, (n) => n)) {
    const [a = '', b = ''] = times(2, (i) => `keyed-${round}-${i}`)
    await Promise.all([put(a), put(b)])
    const answers = await Promise.all([
      relate(either(round), 'unlink', [type, a], [type, b]),
      either(round + 1)('DELETE', `${at}/${b}`, undefined, { 'idempotency-key': b }),
      either(round)('DELETE', `${at}/${a}?dry_run=true`),
    ])
    expectNone500(answers)
    expect(answers[1]?.status).toBe(200)
  }
  await expectSound()
})

test('deletion of a record type concurrent with links to its records leaves no dangling link', async () => {
  for (const round of times(6, (n) => n)) {
    const doomed = await one.newType()
    await Promise.all([put('x', doomed), put('y', doomed), put(`free-${round}`)])
    const answers = await Promise.all([
      relate(either(0), 'cascade', [type, `free-${round}`], [doomed, 'x']),
      either(1)('DELETE', `/v1/crm/record-types/${doomed}?confirm=${doomed}`),
      relate(either(1), 'unlink', [doomed, 'y'], [type, `free-${round}`]),
      relate(either(0), 'restrict', [doomed, 'x'], [doomed, 'y']),
    ])
    expectNone500(answers)
    expect(answers[1]?.status).toBe(200)
  }
  await expectSound()
})
