/** Random writes of several actors; the undo of one request is compared with a model. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { cases } from '../support/cases.ts'
import type { Body, Call } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let actors: Call[]
beforeAll(async () => {
  world = await openWorld({ PLINTH_RATE_LIMIT: '0' })
  actors = await Promise.all(
    [1, 2, 3].map(async () => (await world.newToken([{ permission: 'write' }])).call),
  )
})
afterAll(() => world.close())

type State = { data: object; status: string } | null
type Entry = { request: string; after: State }

/** A small generator with a seed, so that a failure can be repeated. */
const random = (seed: number) => {
  let state = seed
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

const seed = Number(process.env['PLINTH_TEST_SEED'] ?? 1)

test('an undo sets back exactly the records that no other request has changed since', {
  tags: ['full', 'sampled'],
}, async () => {
  for (let round = 0; round < cases(14); round++) {
    const pick = random(seed + round * 7919)
    const type = await world.newType()
    const ids = ['a', 'b', 'c', 'd', 'e']
    const history = new Map<string, Entry[]>(ids.map((id) => [id, []]))
    const now = (id: string): State => history.get(id)?.at(-1)?.after ?? null
    const requests: string[] = []
    for (let n = 0; n < 8; n++) {
      const request = `r${round}-${n}-${seed}`
      const operations: object[] = []
      for (let k = 0; k <= pick(4); k++) {
        const id = ids[pick(ids.length)] as string
        const state = now(id)
        const target = { record_type: type, id }
        const log = (after: State) => history.get(id)?.push({ request, after })
        const act = state ? pick(4) : 0
        if (act === 3) {
          operations.push({ type: 'delete_record', ...target })
          log(null)
        } else if (act === 2 && state?.status === 'active') {
          operations.push({ type: 'cancel_record', ...target })
          log({ data: state.data, status: 'cancelled' })
        } else {
          const data = { n: pick(1000), list: Array.from({ length: pick(3) }, () => pick(9)) }
          operations.push({ type: 'upsert_record', ...target, data })
          if (JSON.stringify(state?.data) !== JSON.stringify(data))
            log({ data, status: state?.status ?? 'active' })
        }
      }
      const call = actors[pick(actors.length)] as Call
      succeed(await call('POST', '/v1/crm/batch', { operations }, { 'x-request-id': request }))
      requests.push(request)
    }
    const chosen = requests[pick(requests.length)] as string
    const expected = new Map<string, State>()
    for (const [id, entries] of history) {
      const first = entries.findIndex(({ request }) => request === chosen)
      const isOwn = first >= 0 && entries.slice(first).every(({ request }) => request === chosen)
      expected.set(id, isOwn ? (entries[first - 1]?.after ?? null) : now(id))
    }
    const isTouched = [...history.values()].flat().some(({ request }) => request === chosen)
    const undone = await world.call('POST', '/v1/crm/revert', { request_id: chosen, on_conflict: 'skip' })
    expect(undone.status, undone.text).toBe(isTouched ? 200 : 404)
    for (const id of ids) {
      const found = await world.call('GET', `/v1/crm/records/${type}/${id}`)
      const { data, status }: Body = found.body
      expect(found.status === 404 ? null : { data, status }, `${chosen}, record ${id}`).toEqual(
        expected.get(id),
      )
    }
    if (!isTouched || undone.body.count === 0) continue
    succeed(await world.call('POST', '/v1/crm/revert', { request_id: undone.body.request_id }))
    for (const id of ids) {
      const found = await world.call('GET', `/v1/crm/records/${type}/${id}`)
      const { data, status }: Body = found.body
      expect(found.status === 404 ? null : { data, status }, `undo of the undo of ${chosen}, ${id}`).toEqual(
        now(id),
      )
    }
  }
})
